//! The one table of what may be written between the parentheses.

/// A key of `#[capability(..)]`.
pub struct Key {
    pub word: &'static str,
    pub required: bool,
    /// How it is written, for `help:` lines.
    pub example: &'static str,
    pub form: Shape,
}

/// What stands behind a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `key = value`
    Value,
    /// `key(..)`
    List,
    /// `key`
    Flag,
}

const fn key(word: &'static str, required: bool, form: Shape, example: &'static str) -> Key {
    Key { word, required, example, form }
}

/// Every key there is, in the order in which they are best written.
pub const KEYS: &[Key] = &[
    key("name", true, Shape::Value, "name = \"web.search\""),
    key("version", true, Shape::Value, "version = 1"),
    key("side_effect", true, Shape::Value, "side_effect = read_only"),
    key("network", true, Shape::Value, "network = external"),
    key("title", false, Shape::Value, "title = \"Search the web\""),
    key("bounds", false, Shape::List, "bounds(timeout = \"10s\", max_result = \"64 KiB\", per_turn = 1)"),
    key("target", false, Shape::Value, "target = url(url)"),
    key("scope", false, Shape::Value, "scope = argument"),
    key("preview", false, Shape::Value, "preview = path::of::preview"),
    key("check", false, Shape::Value, "check = path::of::check"),
    key("risk", false, Shape::Value, "risk = low"),
    key("default", false, Shape::Value, "default = ask"),
    key("locked", false, Shape::Flag, "locked"),
    key("resident", false, Shape::Flag, "resident"),
    key("idempotent", false, Shape::Flag, "idempotent"),
    key("crate", false, Shape::Value, "crate = ::path::of::capability_core"),
];

/// The keys inside `bounds(..)`.
pub const BOUNDS: &[Key] = &[
    key("timeout", false, Shape::Value, "timeout = \"10s\""),
    key("max_result", false, Shape::Value, "max_result = \"64 KiB\""),
    key("per_turn", false, Shape::Value, "per_turn = 1"),
];

/// Keys that are refused with a reason of their own instead of a guess at what was meant: word, rule, help.
pub const MISPLACED: &[(&str, &str, &str)] = &[
    ("description", "the description is the function's doc comment", "write `/// What it does.` above the function"),
    ("doc", "the description is the function's doc comment", "write `/// What it does.` above the function"),
    ("timeout", "how long a call may run is one of its bounds", "write `bounds(timeout = \"10s\")`"),
    ("timeout_ms", "how long a call may run is one of its bounds", "write `bounds(timeout = \"10s\")`"),
    ("max_result", "how large a result may be is one of its bounds", "write `bounds(max_result = \"64 KiB\")`"),
    ("max_result_bytes", "how large a result may be is one of its bounds", "write `bounds(max_result = \"64 KiB\")`"),
    ("per_turn", "how often a turn may call it is one of its bounds", "write `bounds(per_turn = 1)`"),
    ("max_per_turn", "how often a turn may call it is one of its bounds", "write `bounds(per_turn = 1)`"),
    ("read_only", "the side effect is the value of a key", "write `side_effect = read_only`"),
    ("mutating", "the side effect is the value of a key", "write `side_effect = mutating`"),
    ("local", "the network is the value of a key", "write `network = local`"),
    ("external", "the network is the value of a key", "write `network = external`"),
    (
        "args",
        "it marks the parameter that is the whole argument object",
        "write `#[args] arguments: Arguments` in the signature",
    ),
    ("handles", "what a function borrows is what it may reach", "take a borrowed parameter, as in `http: &Http`"),
    ("grants", "what a function borrows is what it may reach", "take a borrowed parameter, as in `http: &Http`"),
];

/// What other systems call the same thing: their word, the key.
pub const SYNONYMS: &[(&str, &str)] = &[
    ("id", "name"),
    ("tool", "name"),
    ("effect", "side_effect"),
    ("effects", "side_effect"),
    ("access", "side_effect"),
    ("net", "network"),
    ("reach", "network"),
    ("ver", "version"),
    ("label", "title"),
    ("limits", "bounds"),
    ("validate", "check"),
    ("dry_run", "preview"),
    ("severity", "risk"),
    ("deadline", "timeout"),
    ("max_size", "max_result"),
    ("rate", "per_turn"),
];

/// The words of a table, for suggestions.
pub fn words(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.word).collect()
}
