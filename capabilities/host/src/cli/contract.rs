//! `contract check` and `contract update`: the checked-in lists, beside what was compiled.

use std::path::{Path, PathBuf};

use capability_core::Registry;
use capability_core::contract::{Contract, ContractDrift, PackageLock};
use serde_json::json;

use super::arguments::Contract as Command;
use super::output::Output;
use super::program;
use crate::protocol::Fault;
use crate::words::counted;

/// Checks or writes contract lists. Needs no host and no data directory.
pub fn perform(command: Command, output: Output, packages: &[&str]) -> Result<u8, Fault> {
    let registry = Registry::collect_without_lists(packages)
        .map_err(|fault| Fault::broken(fault.to_string(), "put the registry right first"))?;
    match command {
        Command::Check => check(&registry, output, packages),
        Command::Update { package, file, force } => update(&registry, output, packages, package, file, force),
    }
}

fn check(registry: &Registry, output: Output, packages: &[&str]) -> Result<u8, Fault> {
    let mut findings = Vec::new();
    let mut checked = 0;
    for package in packages {
        let compiled = contracts(registry, package)?;
        match Registry::contract_list(package) {
            Some(text) => findings.extend(drift(registry, package, text, &compiled)?.iter().map(ToString::to_string)),
            None if compiled.is_empty() => {}
            None => findings.push(format!(
                "package `{package}` has capabilities and no contract list in this binary\n\
                 help: run `capability contract update --package {package}`, then {}",
                carry(Path::new(BESIDE))
            )),
        }
        checked += compiled.len();
    }
    let findings: Vec<_> = findings.iter().map(|finding| program::own(finding)).collect();
    output.print(&json!({ "checked": checked, "findings": findings }), |_| match findings.as_slice() {
        [] if checked == 1 => "1 contract is as checked in\n".to_owned(),
        [] => format!("{checked} contracts are as checked in\n"),
        findings => findings.iter().fold(String::new(), |text, finding| text + finding + "\n"),
    });
    Ok(if findings.is_empty() { 0 } else { 4 })
}

fn update(
    registry: &Registry,
    output: Output,
    packages: &[&str],
    package: Option<String>,
    file: Option<PathBuf>,
    force: bool,
) -> Result<u8, Fault> {
    let has_entries = |package: &&&str| registry.iter().any(|held| held.entry().package() == **package);
    let package = match &package {
        Some(package) => package.as_str(),
        None => packages
            .iter()
            .find(has_entries)
            .copied()
            .ok_or_else(|| Fault::usage("this binary has no capabilities", "write one with `#[capability]`"))?,
    };
    let compiled = contracts(registry, package)?;
    let Some(first) = registry.iter().find(|held| held.entry().package() == package) else {
        return Err(Fault::usage(
            format!("package `{package}` has no capabilities in this binary"),
            format!("name one of {}", packages.join(", ")),
        ));
    };
    let (file, from_source) = match file {
        Some(file) => {
            let whole = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
            (file, whole)
        }
        None => (beside_source(first.entry().location().file)?, BESIDE.into()),
    };
    let listed = match std::fs::read_to_string(&file) {
        Ok(text) => PackageLock::parse(&text).map_err(|error| {
            let Fault { message, .. } = Fault::told(2, &error);
            Fault::usage(format!("`{}`: {message}", file.display()), "put the line right or remove it")
        })?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => PackageLock::default(),
        Err(error) => return Err(unwritable(&file, &error)),
    };
    if !force {
        let own = registry.iter().map(|held| held.entry()).filter(|entry| entry.package() == package);
        let mut changed = listed.shape_drift(own);
        changed.retain(|drift| matches!(drift, ContractDrift::Shape { .. }));
        changed.extend(compiled.iter().flat_map(|contract| listed.schema_drift(contract)));
        if let Some(first) = changed.first() {
            return Err(Fault::told(4, first));
        }
    }
    let text = compiled.iter().fold(
        format!("# The contracts of package `{package}`, checked in like a lock file. Written by `contract update`.\n"),
        |text, contract| text + &contract.to_string() + "\n",
    );
    std::fs::write(&file, text).map_err(|error| unwritable(&file, &error))?;
    // A list that no binary carries guards nothing, however often it is written.
    let uncarried = Registry::contract_list(package).is_none().then(|| carry(&from_source));
    let note = uncarried.as_deref().map_or(String::new(), |help| {
        format!("this binary does not carry the list, so nothing is held to it yet\nhelp: {help}\n")
    });
    let document = json!({ "file": file.display().to_string(), "contracts": compiled.len(), "carried": uncarried.is_none(), "help": uncarried });
    output.print(&document, |_| {
        format!("{} written to {}\n{note}", counted(compiled.len(), "contract", "contracts"), file.display())
    });
    Ok(0)
}

/// The list as a source file directly in `src` names it.
const BESIDE: &str = "../contracts.lock";

/// What an author does so that a binary carries a list; `list` is named as its source file names it.
fn carry(list: &Path) -> String {
    format!(
        "write `capability_core::contracts!(\"{}\");` in the package's `src/lib.rs` or `src/main.rs`, and build again",
        list.display()
    )
}

fn unwritable(file: &Path, error: &std::io::Error) -> Fault {
    Fault::usage(format!("`{}`: {error}", file.display()), "name the list with `--file FILE`")
}

/// `contracts.lock` beside the `src` in which the first function stands, seen from where the compiler was started.
fn beside_source(source: &str) -> Result<PathBuf, Fault> {
    let source = Path::new(source);
    let package = source.ancestors().find(|path| path.file_name().is_some_and(|name| name == "src"));
    let package = package.and_then(Path::parent).filter(|_| source.is_file());
    package.map(|package| package.join("contracts.lock")).ok_or_else(|| {
        Fault::usage(
            "the package's source is not below this directory",
            "run it from the workspace, or name the list with `--file FILE`",
        )
    })
}

fn contracts(registry: &Registry, package: &str) -> Result<Vec<Contract>, Fault> {
    let own = registry.iter().filter(|held| held.entry().package() == package);
    own.map(|held| {
        let schemas = held.schemas().map_err(|fault| Fault {
            exit: 4,
            message: format!("the schema of `{}` at {} is at fault: {fault}", held.entry(), held.entry().location()),
            help: None,
        })?;
        Ok(Contract::of(held.entry(), schemas))
    })
    .collect()
}

/// Everything in which a package differs from its list.
pub fn drift(
    registry: &Registry,
    package: &str,
    text: &str,
    compiled: &[Contract],
) -> Result<Vec<ContractDrift>, Fault> {
    let listed = PackageLock::parse(text)
        .map_err(|error| Fault::broken(format!("the contract list of `{package}`: {error}"), "put the line right"))?;
    let own = registry.iter().map(|held| held.entry()).filter(|entry| entry.package() == package);
    let mut drift = listed.shape_drift(own);
    drift.extend(compiled.iter().flat_map(|contract| listed.schema_drift(contract)));
    Ok(drift)
}
