//! What both sides of a comparison compute with, and whether they compute the same.

/// What a value is made of.
pub trait Floats {
    /// These, one after the other.
    fn floats(&self) -> &[f32];
}

impl Floats for f32 {
    fn floats(&self) -> &[f32] {
        std::slice::from_ref(self)
    }
}

impl Floats for [f32; 4] {
    fn floats(&self) -> &[f32] {
        self
    }
}

/// Values between 0.5 and 1.5.
pub fn values(n: usize) -> Vec<f32> {
    (0..n).map(|k| 0.5 + (k * 7919 % 1009) as f32 / 1009.0).collect()
}

/// Both have the same values, but for rounding.
pub fn assert_close(what: &str, ours: &[f32], theirs: &[f32]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * a.abs().max(b.abs()).max(1e-3);
    assert!(ours.iter().zip(theirs).all(near), "{what}: both sides compute the same");
}
