//! The validator of SPIR-V.

use std::io::Write;
use std::process::{Command, Stdio};

/// `spirv-val`, if there is one, and else why not.
pub fn validator() -> Result<(), String> {
    let ran = Command::new("spirv-val").arg("--version").output();
    ran.map(drop).map_err(|error| format!("spirv-val: {error}"))
}

/// A module is one of Vulkan 1.3.
pub fn validate(words: &[u32]) -> Result<(), String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let failed = |error: std::io::Error| format!("spirv-val: {error}");
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.3", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&bytes).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    match output.status.success() {
        true => Ok(()),
        false => {
            Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
        }
    }
}

/// The instructions of a module: opcode and operands.
pub fn instructions(words: &[u32]) -> Vec<(u32, &[u32])> {
    let (mut at, mut all) = (5, vec![]);
    while let Some(first) = words.get(at) {
        let len = (first >> 16).max(1) as usize;
        all.push((first & 0xffff, words.get(at + 1..at + len).unwrap_or_default()));
        at += len;
    }
    all
}

/// How many operations of floats there are, and how many of them may be contracted.
pub fn contractible(words: &[u32]) -> (usize, usize) {
    const DECORATE: u32 = 71;
    const NO_CONTRACTION: u32 = 42;
    // Negation, and `+ - * / %`; products of vectors and matrices; GLSL's `Fma`.
    let arithmetic = |op: u32, of: &[u32]| match op {
        12 => of.get(3) == Some(&50),
        _ => matches!(op, 127 | 129 | 131 | 133 | 136 | 140 | 141 | 142..=148),
    };
    let all = instructions(words);
    let decorated: Vec<u32> = all
        .iter()
        .filter(|(op, of)| *op == DECORATE && of.get(1) == Some(&NO_CONTRACTION))
        .filter_map(|(_, of)| of.first().copied())
        .collect();
    let results = all.iter().filter(|(op, of)| arithmetic(*op, of)).filter_map(|(_, of)| of.get(1));
    let (mut count, mut free) = (0, 0);
    for result in results {
        count += 1;
        free += usize::from(!decorated.contains(result));
    }
    (count, free)
}

/// The module has a function of GLSL that is not one of these.
pub fn other_functions(words: &[u32], known: &[u32]) -> Vec<u32> {
    let all = instructions(words).into_iter().filter(|(op, _)| *op == 12);
    all.filter_map(|(_, of)| of.get(3).copied()).filter(|own| !known.contains(own)).collect()
}
