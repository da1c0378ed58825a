//! Capsules as files: whole, damaged, and of other kinds.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use super::file::*;
use folio_core::ir::parse::parse;
use std::fs;

/// `y[i] = a * x[i] + y[i]`
const KERNEL: &str = r#"
kernel "saxpy" items 1 tile 1
param p0 = "a" scalar f32
param p1 = "x" view f32 1 in item
param p2 = "y" view f32 1 inout item
body {
  %0 f32 = arg p0
  %1 u64 = query position 0 0
  %2 f32 = load p1[%1]
  %3 f32 = mul %0, %2
  %4 f32 = load p2[%1]
  %5 f32 = add %3, %4
  store p2[%1] = %5
}"#;

fn sample() -> Capsule {
    let memory = |write: bool| Memory {
        size: 4,
        write,
        extent: [1, 1, 3],
        index: [0, 0, 1],
        shape: [1, 1, 4],
        before: Some(vec![1; 12]),
        after: write.then(|| vec![2; 12]),
    };
    Capsule {
        device: "sim:0".to_owned(),
        label: "a label".to_owned(),
        failure: "it failed".to_owned(),
        subgroup: 1,
        offset: [0, 0, 1],
        range: [1, 1, 3],
        group: None,
        kernel: parse(KERNEL).unwrap(),
        scalars: vec![7, 0, 0, 0, 0, 0, 0, 0],
        memory: vec![memory(false), memory(true)],
    }
}

/// The file with the checksum that it should have.
fn summed(mut contents: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&contents);
    contents.extend_from_slice(&sum.to_le_bytes());
    contents
}

/// The sample with a change of one word in its contents is refused, for what it contradicts.
fn refused(change: impl FnOnce(&mut Capsule), what: &str) {
    let mut capsule = sample();
    change(&mut capsule);
    let error = Capsule::from_bytes(&capsule.to_bytes()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, CapsuleError::Contents(_)) && text.contains(what), "{text}");
}

#[test]
fn a_capsule_is_read_as_it_was_written() {
    let capsule = sample();
    assert_eq!(Capsule::from_bytes(&capsule.to_bytes()).unwrap(), capsule);
}

/// Files that are cut short anywhere, and files with any one byte changed.
#[test]
fn damaged_capsules_are_errors() {
    let bytes = sample().to_bytes();
    for cut in 0..bytes.len() {
        let error = Capsule::from_bytes(&bytes[..cut]).unwrap_err();
        let nothing = cut == 0 && matches!(error, CapsuleError::NotACapsule);
        assert!(nothing || matches!(error, CapsuleError::Damaged), "{cut}: {error}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x21;
        let error = Capsule::from_bytes(&changed).unwrap_err();
        let first = at < FAMILY.len() && matches!(error, CapsuleError::NotACapsule);
        let version = at < MAGIC.len() && matches!(error, CapsuleError::Version(_));
        assert!(first || version || matches!(error, CapsuleError::Damaged), "{at}: {error}");
    }
    let longer = [&bytes[..], b"more"].concat();
    assert!(matches!(Capsule::from_bytes(&longer), Err(CapsuleError::Damaged)));
}

/// Words and bytes that are changed with a right checksum: an error, or a capsule that is
/// written as it was read. Lengths among them overflow.
#[test]
fn contents_of_any_kind_do_not_panic() {
    let whole = sample().to_bytes();
    let contents = &whole[..whole.len() - 8];
    let (mut errors, mut read) = (0, 0);
    let values = [0, 1, 2, 3, u64::MAX, u64::MAX / 4, 1 << 32, 1 << 62, 1 << 63];
    for at in MAGIC.len()..contents.len() {
        for value in values {
            let mut changed = contents.to_vec();
            let end = (at + 8).min(changed.len());
            changed[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            match Capsule::from_bytes(&summed(changed)) {
                Ok(capsule) => {
                    read += 1;
                    assert_eq!(Capsule::from_bytes(&capsule.to_bytes()).unwrap(), capsule);
                }
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors > read && read > 0, "{errors} errors, {read} capsules");
}

#[test]
fn contradictions_are_named() {
    refused(|c| c.memory.truncate(1), "a parameter without memory");
    refused(|c| c.memory.push(c.memory[0].clone()), "other arguments");
    refused(|c| c.scalars.truncate(4), "other arguments");
    refused(|c| c.memory[0].size = 8, "another size than the parameter's");
    refused(|c| c.memory[0].extent[2] = 2, "another size than its box");
    refused(|c| c.memory[1].after = Some(vec![]), "another size than its box");
    refused(|c| c.memory[0].extent = [u64::MAX; 3], "a box that is too large");
    refused(|c| c.memory[0].shape = [1 << 40; 3], "a view that is too large");
    refused(|c| c.memory[0].index[2] = 2, "outside of its view");
    refused(|c| c.memory[0].index[2] = u64::MAX, "outside of its view");
    refused(|c| c.range = [1 << 30; 3], "too large");
    refused(|c| c.offset[2] = u64::MAX, "too large");
}

#[test]
fn other_files_and_versions_are_told_apart() {
    let of = |bytes: &[u8]| Capsule::from_bytes(bytes).unwrap_err();
    assert!(matches!(of(b"an image"), CapsuleError::NotACapsule));
    assert!(matches!(of(b""), CapsuleError::NotACapsule));
    let later = of(b"folio capsule 2\nwhatever");
    assert!(matches!(&later, CapsuleError::Version(line) if line == "folio capsule 2"));
}

/// An old file stays as it is until the new one is whole; what is no plain file is not read.
#[test]
fn files_are_written_beside_and_renamed() {
    let folder = std::env::temp_dir().join(format!("folio-capsule-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.capsule");
    sample().write(&path).unwrap();
    assert_eq!(Capsule::read(&path).unwrap(), sample());
    assert!(matches!(Capsule::read(&folder), Err(CapsuleError::NotPlain)));
    assert!(matches!(Capsule::read(&folder.join("none")), Err(CapsuleError::File(_))));
    #[cfg(unix)]
    {
        let link = folder.join("link.capsule");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(Capsule::read(&link), Err(CapsuleError::NotPlain)));
        // A link in the file's place is replaced, and not followed.
        sample().write(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        // A file beside it may be another program's.
        fs::write(folder.join(".a.capsule.new"), "other").unwrap();
        assert!(matches!(sample().write(&path), Err(CapsuleError::File(_))));
        assert_eq!(fs::read_to_string(folder.join(".a.capsule.new")).unwrap(), "other");
    }
    fs::remove_dir_all(&folder).unwrap();
}
