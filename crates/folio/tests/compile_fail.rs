//! What types promise: these programs must not compile, and the messages must say why.

/// DEP-05, KRN-02, KRN-06, MPTR-03, MPTR-07, POL-05, POL-07
#[test]
fn compile_fail() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
