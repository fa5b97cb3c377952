//! The check of exported schemas: compact, and without a general validator behind it.
//!
//! What is exported uses few keywords, so a document is compiled to one flat table whose entries are asked about a value
//! directly, wherever that lies: in one piece of memory or in a tree. Accepting allocates nothing, but for long lists
//! whose items must differ and objects of more than 64 members that combine several types. A keyword or format that it
//! does not know is a fault of the whole document and never ignored. In the tests `jsonschema` is the measure of it.

mod formed;
mod keywords;
mod mistake;
mod number;
mod plan;
mod text;
mod told;
mod valid;
mod view;

pub(crate) use keywords::Unplanned;
pub(crate) use mistake::{Kind, Mistake};
pub(crate) use number::Digits;
pub(crate) use plan::Planner;
pub(crate) use view::{List, Object, Shape, View};

use formed::Node;
use serde_json::Value;

/// The place of a schema in a [`Check`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(u32);

/// A compiled schema document.
#[derive(Debug)]
pub(crate) struct Check {
    nodes: Vec<Node>,
    root: Place,
}

impl Check {
    /// Compiles a document.
    ///
    /// # Errors
    /// [`Unplanned`] names the first keyword that is none of those checked here.
    pub(crate) fn of(document: &Value) -> Result<Self, Unplanned> {
        let mut planner = Planner::of(document);
        let root = planner.place("")?;
        planner.finish(root)
    }

    /// True for a value that the document accepts.
    #[inline]
    pub(crate) fn accepts<'a, V: View<'a>>(&self, value: V) -> bool {
        self.accepts_at(self.root, value)
    }

    /// The same for a part of the document.
    #[inline]
    pub(crate) fn accepts_at<'a, V: View<'a>>(&self, place: Place, value: V) -> bool {
        valid::Walk { nodes: &self.nodes, exact: false }.holds(place, value)
    }

    /// The same for the whole of it, where a double is no integer.
    pub(crate) fn accepts_exactly<'a, V: View<'a>>(&self, value: V) -> bool {
        valid::Walk { nodes: &self.nodes, exact: true }.holds(self.root, value)
    }

    /// What is wrong with `value`, at most `limit` of it. Each is told by the keyword that refuses.
    pub(crate) fn mistakes<'a>(&'a self, value: &'a Value, exact: bool, limit: usize) -> Vec<Mistake<'a>> {
        told::all(valid::Walk { nodes: &self.nodes, exact }, self.root, value, limit)
    }
}
