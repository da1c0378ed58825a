//! An entry's bytes: a word that says what it is, a checksum of the rest, the key, and the program.
//! The file's name is made of the key, too, but the key itself decides.

use folio_kernel::ContentHash;

/// The bytes with which an entry begins.
const MAGIC: [u8; 8] = *b"folio\0\0\x02";
const SUM: usize = size_of::<u128>();
const LEN: usize = size_of::<u64>();

/// The file's name.
pub(super) fn name(key: &[u8]) -> String {
    format!("{}.bin", ContentHash::of(key))
}

/// Whether a file of this name is an entry.
pub(super) fn is_name(name: &str) -> bool {
    name.strip_suffix(".bin").is_some_and(|stem| stem.len() == 2 * SUM)
}

pub(super) fn write(key: &[u8], program: &[u8]) -> Vec<u8> {
    let mut rest = Vec::with_capacity(MAGIC.len() + SUM + LEN + key.len() + program.len());
    rest.extend_from_slice(&MAGIC);
    rest.extend_from_slice(&[0; SUM]);
    rest.extend_from_slice(&(key.len() as u64).to_le_bytes());
    rest.extend_from_slice(key);
    rest.extend_from_slice(program);
    let (head, covered) = rest.split_at_mut(MAGIC.len() + SUM);
    head[MAGIC.len()..].copy_from_slice(&ContentHash::of(covered).0.to_le_bytes());
    rest
}

/// The program, if the bytes are an undamaged entry of this key.
pub(super) fn read(key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    parse(bytes).filter(|(of, _)| *of == key).map(|(_, program)| program.to_vec())
}

/// Key and program, if the bytes are an undamaged entry.
pub(super) fn parse(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = bytes.strip_prefix(&MAGIC)?;
    let (sum, covered) = rest.split_at_checked(SUM)?;
    if sum != ContentHash::of(covered).0.to_le_bytes() {
        return None;
    }
    let (len, rest) = covered.split_first_chunk::<LEN>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)
}

/// The first parts of a key: Folio's version, the kind, and the name.
pub(super) fn head(key: &[u8]) -> Option<[String; 3]> {
    let mut rest = key;
    let mut part = || {
        let (len, after) = rest.split_first_chunk::<LEN>()?;
        let len = u64::from_le_bytes(*len).try_into().ok()?;
        let (part, after) = after.split_at_checked(len)?;
        rest = after;
        Some(String::from_utf8_lossy(part).into_owned())
    };
    Some([part()?, part()?, part()?])
}
