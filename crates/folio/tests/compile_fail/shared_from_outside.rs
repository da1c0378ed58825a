//! DEP-05: what accesses are made of cannot be implemented elsewhere.
use folio::{AsPart, Part};

struct Mine;
impl AsPart<f32, 1> for Mine {
    fn as_part(&self) -> Part {
        unreachable!()
    }
}

fn main() {}
