//! Expansions, pretty-printed, against files that are read like code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

use super::expand;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/expansions")
}

fn inputs() -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".in.rs"))
        .collect();
    found.sort();
    found
}

fn expansion(input: &Path) -> TokenStream {
    expand(std::fs::read_to_string(input).unwrap().parse().unwrap())
}

/// `UPDATE_EXPANSIONS=1 cargo test -p capability-macros` writes what it finds; the difference is read in review.
#[test]
fn expansions_are_as_recorded() {
    let update = std::env::var_os("UPDATE_EXPANSIONS").is_some();
    let mut wrong = Vec::new();
    for input in inputs() {
        let file: syn::File = syn::parse2(expansion(&input)).unwrap();
        let printed = prettyplease::unparse(&file);
        let output = PathBuf::from(input.to_string_lossy().replace(".in.rs", ".out.rs"));
        if update {
            std::fs::write(&output, &printed).unwrap();
        } else if std::fs::read_to_string(&output).unwrap_or_default() != printed {
            wrong.push(format!("{}:\n{printed}", output.display()));
        }
    }
    assert!(wrong.is_empty(), "run with UPDATE_EXPANSIONS=1 and read the difference\n{}", wrong.join("\n"));
}

/// An input whose own tokens have none of the names below, with everything that generated code can have.
fn everything() -> TokenStream {
    let full = expand(quote! {
        /// Documented.
        #[capability(
            name = "all.keys", version = 1, side_effect = mutating, network = external, title = "All",
            bounds(timeout = "1s", max_result = "1 KiB", per_turn = 1), target = url(first), scope = second,
            preview = show, check = judge, risk = low, default = ask, resident, idempotent
        )]
        async fn all(first: Text, handle: &Lent, #[serde(default)] second: Text, other: &Other) -> Answer { body }
    });
    let locked = expand(quote! {
        #[capability(name = "all.locked", version = 1, side_effect = read_only, network = local, locked)]
        fn locked(first: Text, handle: &Lent) -> Answer;
    });
    let whole = expand(quote! {
        #[capability(name = "all.whole", version = 1, side_effect = read_only, network = local, check = judge)]
        fn whole(#[args] first: Text, handle: &Lent) {}
    });
    quote!(#full #locked #whole)
}

/// Calls `visit` with each word, the token before it and the token after it, in every group.
fn each_word(tokens: TokenStream, visit: &mut impl FnMut(&str, Option<char>, Option<char>)) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mark = |tree: Option<&TokenTree>| match tree {
        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
        _ => None,
    };
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Ident(word) => {
                let before = at.checked_sub(1).and_then(|before| trees.get(before));
                visit(&word.to_string(), mark(before), mark(trees.get(at + 1)));
            }
            TokenTree::Group(group) => each_word(group.stream(), visit),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[test]
fn nothing_in_an_expansion_can_panic() {
    let mut found = BTreeSet::new();
    each_word(everything(), &mut |word, _, _| {
        let forbidden =
            ["unwrap", "expect", "panic", "unreachable", "todo", "unimplemented", "assert", "unsafe", "allow"];
        if forbidden.contains(&word) {
            found.insert(word.to_owned());
        }
    });
    assert!(found.is_empty(), "{found:?}");
}

/// Names of the prelude and of crates are reached by absolute paths only: an author's module may have its own.
#[test]
fn nothing_in_an_expansion_leans_on_the_prelude() {
    const PRELUDE: &[&str] = &[
        "std",
        "core",
        "alloc",
        "serde",
        "schemars",
        "linkme",
        "capability_core",
        "Option",
        "Some",
        "None",
        "Result",
        "Ok",
        "Err",
        "String",
        "Vec",
        "Box",
        "Send",
        "Sync",
        "Sized",
        "Fn",
        "FnMut",
        "FnOnce",
        "Future",
        "Into",
        "From",
        "Default",
        "Clone",
        "Copy",
        "Iterator",
        "IntoIterator",
        "ToString",
        "ToOwned",
        "drop",
        "env",
        "file",
        "line",
        "column",
        "concat",
        "include_str",
    ];
    let mut found = BTreeSet::new();
    each_word(everything(), &mut |word, before, after| {
        // `file: ..` and `serde(..)` are a field and a derive helper; neither is looked up.
        let is_label = after == Some(':') || ["serde", "schemars", "linkme"].contains(&word) && before.is_none();
        if PRELUDE.contains(&word) && before != Some(':') && !is_label {
            found.insert(word.to_owned());
        }
    });
    assert!(found.is_empty(), "{found:?}");
}

/// Every name that generated code gives to something begins with two underscores.
#[test]
fn generated_names_do_not_meet_an_authors() {
    let mut words: Vec<String> = Vec::new();
    each_word(everything(), &mut |word, _, _| words.push(word.to_owned()));
    for pair in words.windows(2) {
        let [keyword, name] = pair else { continue };
        let ours = ["struct", "static", "let"].contains(&keyword.as_str());
        assert!(!ours || name.starts_with("__"), "{keyword} {name}");
    }
}

/// The function is there first, every token of it, and nothing else that has a name.
#[test]
fn the_function_is_emitted_unchanged_and_alone() {
    let expanded = expand(quote! {
        #[capability(name = "a.b", version = 1, side_effect = read_only, network = local)]
        #[inline]
        pub(crate) async fn all(#[serde(default)] first: Text, #[allow(unused)] second: Text) -> Answer { a.weird(body!()) }
    });
    let file: syn::File = syn::parse2(expanded).unwrap();
    let [syn::Item::Fn(function), syn::Item::Const(constant)] = file.items.as_slice() else { panic!("two items") };
    assert_eq!(constant.ident, "_");
    let mut function = function.clone();
    function.attrs.retain(|attribute| !attribute.path().is_ident("doc"));
    let expected = quote! {
        #[inline]
        pub(crate) async fn all(first: Text, #[allow(unused)] second: Text) -> Answer { a.weird(body!()) }
    };
    assert_eq!(quote!(#function).to_string(), expected.to_string());
}
