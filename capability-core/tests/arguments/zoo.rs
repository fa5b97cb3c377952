//! Types as authors write them: every shape that the generator and serde each have an opinion about.

use core::num::{NonZeroI8, NonZeroI64, NonZeroU8, NonZeroU64};
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named parameter of any type.
#[derive(JsonSchema, Deserialize, Serialize, Debug, PartialEq)]
#[schemars(bound = "T: JsonSchema")]
pub struct Holds<T> {
    pub value: T,
}

macro_rules! shapes {
    ($($(#[$attribute:meta])* $kind:ident $name:ident $body:tt)*) => {
        $(
            #[derive(JsonSchema, Deserialize, Serialize, Debug, PartialEq)]
            $(#[$attribute])*
            pub $kind $name $body
        )*
    };
}

shapes! {
    struct Empty {}
    struct Sized_ {
        a: u8, b: u16, c: u32, d: u64, e: usize, f: i8, g: i16, h: i32, i: i64, j: isize, k: u128, l: i128,
    }
    struct NonZero { a: NonZeroU8, b: NonZeroU64, c: NonZeroI8, d: NonZeroI64 }
    struct Bounded {
        #[schemars(range(min = 1, max = 5))]
        a: u32,
        #[schemars(range(min = 10))]
        b: i16,
        #[schemars(range(max = 7))]
        c: Option<u64>,
        #[schemars(length(min = 1, max = 3))]
        d: String,
        #[schemars(length(min = 1, max = 2))]
        e: Vec<u8>,
    }
    struct Floats { a: f32, b: f64, c: Option<f64>, d: Vec<f32> }
    struct Optional { a: Option<u8>, b: Option<String>, c: Option<Plain>, d: Option<Documented>, e: Option<Leaf>, f: Option<Option<bool>> }
    #[serde(rename_all = "snake_case")]
    enum Plain { First, SecondOne, Third }
    enum Documented {
        /// The first.
        First,
        /// The second.
        Second,
        Third,
    }
    struct Leaf { x: u8, y: Option<String> }
    enum External { Unit, Newtype(u8), Tuple(u8, String), Struct { a: i32 }, Inner(Leaf) }
    #[serde(tag = "kind")]
    enum Internal { Unit, Struct { a: u8 }, Newtype(Leaf) }
    #[serde(tag = "kind", deny_unknown_fields)]
    enum InternalClosed { Unit, Struct { a: u8 } }
    #[serde(tag = "t", content = "c")]
    enum Adjacent { Unit, Newtype(u8), Tuple(u8, bool), Struct { a: u8 } }
    #[serde(untagged)]
    enum Untagged { Number(u32), Text(String), Struct { a: u8 }, Leaf(Leaf), List(Vec<u8>), Nothing }
    struct FlatStruct { a: u8, #[serde(flatten)] leaf: Leaf }
    struct FlatMap { a: String, #[serde(flatten)] rest: BTreeMap<String, u8> }
    struct FlatExternal { a: u8, #[serde(flatten)] choice: External2 }
    enum External2 { One(u8), Two { x: bool } }
    struct FlatInternal { own: u8, #[serde(flatten)] choice: Internal }
    struct FlatTwo { #[serde(flatten)] leaf: Leaf, #[serde(flatten)] choice: External2, #[serde(flatten)] other: Internal3 }
    #[serde(tag = "tag")]
    enum Internal3 { P { p: u8 }, Q }
    struct FlatOption { a: u8, #[serde(flatten)] leaf: Option<Leaf2> }
    struct Leaf2 { m: u8, n: bool }
    struct List { v: u8, next: Option<Box<List>> }
    struct Tree { name: String, children: Vec<Tree> }
    struct Ping { pong: Option<Box<Pong>> }
    struct Pong { ping: Option<Box<Ping>>, n: u8 }
    enum Expression { Literal(i64), Sum(Vec<Expression>), Not(Box<Expression>) }
    struct Maps { a: BTreeMap<String, u8>, b: HashMap<String, Leaf>, c: BTreeMap<Plain2, bool> }
    #[derive(Eq, PartialOrd, Ord)]
    enum Plain2 { X, Y }
    struct Tuples { a: (u8, String), b: (Plain,), c: [i8; 3] }
    #[serde(transparent)]
    struct Transparent { inner: Leaf }
    struct Unit;
    struct Char { a: char, b: Option<char> }
    struct Bytes { a: Vec<u8>, b: BTreeSet<u16> }
    struct Nested { a: Middle, b: Vec<Middle> }
    struct Middle { leaf: Leaf, choice: Internal, list: Vec<Option<u8>> }
    #[serde(rename_all = "camelCase")]
    struct Renamed {
        first_name: String,
        #[serde(rename = "TYPE")]
        kind: Plain,
        #[serde(alias = "old")]
        fresh: u8,
        #[serde(default)]
        count: u32,
        #[serde(default = "seven")]
        seven: u8,
        #[serde(skip)]
        hidden: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maybe: Option<u8>,
        #[serde(default)]
        leaf: Defaulted,
    }
    #[serde(default)]
    #[derive(Default)]
    struct Defaulted { a: u8, b: String, c: Vec<u8> }
    #[serde(deny_unknown_fields)]
    struct Denying { a: u8, b: Option<Leaf> }
    struct Results { a: Result<u8, String>, b: core::ops::Range<u8> }
    struct Addresses { a: IpAddr, b: Ipv4Addr, c: Ipv6Addr, d: Option<IpAddr> }
    struct Lasts { a: Duration }
    struct Dated {
        #[schemars(extend("format" = "date-time"))]
        a: String,
        #[schemars(extend("format" = "date"))]
        b: String,
        #[schemars(extend("format" = "time"))]
        c: String,
        #[schemars(extend("format" = "duration"))]
        d: String,
        #[schemars(extend("format" = "uuid"))]
        e: String,
    }
    struct Stepped {
        #[schemars(extend("multipleOf" = 3))]
        a: u64,
        #[schemars(extend("multipleOf" = 0.25))]
        b: f64,
        #[schemars(extend("multipleOf" = 7))]
        c: i64,
        #[schemars(extend("exclusiveMinimum" = -1.5, "exclusiveMaximum" = 1e17))]
        d: f64,
        #[schemars(extend("not" = { "const": 7 }))]
        e: u8,
        #[schemars(extend("minProperties" = 1, "maxProperties" = 3, "propertyNames" = { "type": "string", "maxLength": 2 }))]
        f: BTreeMap<String, i8>,
    }
    struct IntegerKeys { a: BTreeMap<u32, String>, b: BTreeMap<i8, u8> }
}

#[derive(JsonSchema, Deserialize, Serialize, Debug, PartialEq)]
pub struct Newtype(u16);

/// A pattern, which needs an engine.
#[cfg(feature = "jsonschema")]
#[derive(JsonSchema, Deserialize, Serialize, Debug, PartialEq)]
pub struct Text(#[schemars(regex(pattern = r"^[a-z]{2,5}(-[0-9]+)?$"))] String);

/// A format that is left to a general validator.
#[cfg(feature = "jsonschema")]
#[derive(JsonSchema, Deserialize, Serialize, Debug, PartialEq)]
pub struct Linked(#[schemars(extend("format" = "uri"))] String);

#[derive(JsonSchema, Deserialize, Serialize, Debug, PartialEq)]
#[serde(from = "u8", into = "u8")]
#[derive(Clone)]
pub struct Converted(u8);

fn seven() -> u8 {
    7
}

impl From<u8> for Converted {
    fn from(value: u8) -> Self {
        Self(value)
    }
}

impl From<Converted> for u8 {
    fn from(value: Converted) -> Self {
        value.0
    }
}
