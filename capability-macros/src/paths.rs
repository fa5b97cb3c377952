//! Where generated code finds its support, and how paths become text.

use std::path::Path;

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// What the author's manifest says about `capability-core`.
pub enum Found {
    /// It can be named by this path.
    At(TokenStream),
    /// It is there only through another crate.
    Nowhere,
}

impl Found {
    /// Looks into the manifest of the crate that is being compiled, so that a renamed dependency works unasked.
    pub fn of_manifest() -> Self {
        // `crate_name` starts a `cargo` to find the workspace: 20 ms of every build, for what one line says as a rule.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(|folder| Path::new(&folder).join("Cargo.toml"));
        if manifest.and_then(|path| std::fs::read_to_string(path).ok()).is_some_and(|text| is_plainly_named(&text)) {
            return Self::At(quote!(::capability_core));
        }
        match crate_name("capability-core") {
            Ok(FoundCrate::Name(name)) => {
                let name = format_ident!("{name}");
                Self::At(quote!(::#name))
            }
            Err(proc_macro_crate::Error::CrateNotFound { .. }) => Self::Nowhere,
            // Without a manifest that can be read, as under another build system, the plain name is the best guess.
            Ok(FoundCrate::Itself) | Err(_) => Self::At(quote!(::capability_core)),
        }
    }
}

/// Whether a line of a manifest's dependencies names `capability-core` and gives it no other package. What is written in
/// another way is not seen here, and is looked up with care.
pub fn is_plainly_named(manifest: &str) -> bool {
    let mut among_dependencies = false;
    manifest.lines().any(|line| {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            among_dependencies = matches!(header, "dependencies" | "dev-dependencies")
                || header.starts_with("target.") && header.ends_with("'.dependencies");
            return false;
        }
        let rest = line.strip_prefix("capability-core").filter(|_| among_dependencies);
        let whole = |rest: &str| !rest.contains("package") && !rest.trim_end().ends_with('{');
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']) && whole(rest))
    })
}

/// Tokens as text, without the spaces that printing puts between them.
pub fn text(tokens: &TokenStream) -> String {
    let mut text = String::new();
    for tree in tokens.clone() {
        let part = match tree {
            proc_macro2::TokenTree::Group(group) => {
                let inner = self::text(&group.stream());
                match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => format!("({inner})"),
                    proc_macro2::Delimiter::Bracket => format!("[{inner}]"),
                    proc_macro2::Delimiter::Brace => format!("{{{inner}}}"),
                    proc_macro2::Delimiter::None => inner,
                }
            }
            proc_macro2::TokenTree::Punct(punct) if punct.as_char() == ',' => ", ".to_owned(),
            other @ (proc_macro2::TokenTree::Ident(_)
            | proc_macro2::TokenTree::Punct(_)
            | proc_macro2::TokenTree::Literal(_)) => other.to_string(),
        };
        // Two words in a row need the space, or they would become one.
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(is_word) && part.starts_with(is_word) {
            text.push(' ');
        }
        text.push_str(&part);
    }
    text
}
