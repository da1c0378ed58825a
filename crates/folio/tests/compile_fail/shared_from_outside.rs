//! DEP-05: what accesses are made of cannot be implemented elsewhere, neither for a program's own
//! type nor for a program's own elements.
#![forbid(unsafe_code)]
use folio::{buffer::{AsPart, AsPartMut, Part, ReadView}, Buffer, DeviceType};

struct Mine;
impl AsPart<f32, 1> for Mine {
    fn as_part(&self) -> Part {
        unreachable!()
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Big {
    a: [u64; 64],
}

// It would be 512 elements in the memory of one.
impl AsPart<Big, 1> for Buffer<u8> {
    fn as_part(&self) -> Part {
        AsPart::<u8, 1>::as_part(&self)
    }
}

// It would write to what is lent for reading.
impl AsPartMut<Big, 1> for &ReadView<Big> {
    fn as_part_mut(&mut self) -> Part {
        AsPart::<Big, 1>::as_part(self)
    }
}

fn main() {}
