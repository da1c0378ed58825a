//! A capsule as a value and as a file.
//!
//! The file begins with a line that names the version and ends with a checksum. Between them are
//! numbers, texts and bytes in a fixed order, little-endian, each text and piece of memory behind
//! its length. A reader believes no length that is longer than what is left of the file.

use folio_core::ir::parse::parse;
use folio_core::ir::verify::verify;
use folio_core::ir::{Kernel, ParamKind};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// The first line; another version has another one.
pub(super) const MAGIC: &[u8] = b"folio capsule 1\n";
/// How all versions begin.
pub(super) const FAMILY: &[u8] = b"folio capsule ";
/// Bytes of a file that is read at most.
pub const MOST_BYTES: u64 = 1 << 30;

/// The memory of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of one element.
    pub size: u64,
    /// The kernel may write it.
    pub write: bool,
    /// Extent of the accessed box, slowest dimension first.
    pub extent: [u64; 3],
    /// The index, as the kernel counts, of the accessed box's first element.
    pub index: [u64; 3],
    /// The extent that the kernel sees.
    pub shape: [u64; 3],
    /// The box before the launch, in row-major order; none where it could not be had.
    pub before: Option<Vec<u8>>,
    /// The box after the launch, of what the kernel may write.
    pub after: Option<Vec<u8>>,
}

/// A launch that failed, and all that is needed to run it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capsule {
    /// The device, such as `cuda:0`.
    pub device: String,
    /// The command's label, or empty.
    pub label: String,
    /// The failure, in words.
    pub failure: String,
    /// Items of a sub-group of the device.
    pub subgroup: u32,
    /// Position of the first item, slowest dimension first.
    pub offset: [u64; 3],
    /// Items.
    pub range: [u64; 3],
    /// Items of a group; of a kernel of groups.
    pub group: Option<[u64; 3]>,
    /// The kernel, verified.
    pub kernel: Kernel,
    /// The scalars in their order, each from a multiple of 8 bytes on.
    pub scalars: Vec<u8>,
    /// By memory parameter.
    pub memory: Vec<Memory>,
}

/// Why a file is no capsule that can be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum CapsuleError {
    /// The file cannot be read or written.
    File(io::Error),
    /// The path names a link, a folder or a device.
    NotPlain,
    /// The file is larger than a capsule can be.
    TooLarge {
        /// Its bytes.
        bytes: u64,
    },
    /// The file is something else.
    NotACapsule,
    /// Another version of Folio wrote it: the first line.
    Version(String),
    /// The file is cut short, or its checksum is not that of its contents.
    Damaged,
    /// The contents contradict themselves.
    Contents(String),
}

impl fmt::Display for CapsuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CapsuleError::File(error) => error.fmt(f),
            CapsuleError::NotPlain => f.write_str("this is no plain file"),
            CapsuleError::TooLarge { bytes } => {
                write!(f, "the file has {bytes} bytes, and a capsule {MOST_BYTES} at most")
            }
            CapsuleError::NotACapsule => f.write_str("this is no capsule"),
            CapsuleError::Version(line) => write!(
                f,
                "another version of Folio wrote this capsule (`{line}`; this one reads `folio capsule 1`)"
            ),
            CapsuleError::Damaged => f.write_str("the capsule is cut short or damaged"),
            CapsuleError::Contents(what) => write!(f, "the capsule contradicts itself: {what}"),
        }
    }
}

impl std::error::Error for CapsuleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CapsuleError::File(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for CapsuleError {
    fn from(error: io::Error) -> CapsuleError {
        CapsuleError::File(error)
    }
}

/// The checksum of a capsule (FNV-1a), which finds damage and no forgery.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn numbers(&mut self, numbers: [u64; 3]) {
        numbers.into_iter().for_each(|number| self.number(number));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// The rest of a file.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], CapsuleError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(CapsuleError::Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, CapsuleError> {
        let mut word = [0; 8];
        word.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(word))
    }

    fn numbers(&mut self) -> Result<[u64; 3], CapsuleError> {
        Ok([self.number()?, self.number()?, self.number()?])
    }

    fn bytes(&mut self) -> Result<&'b [u8], CapsuleError> {
        let count = usize::try_from(self.number()?).map_err(|_| CapsuleError::Damaged)?;
        self.take(count)
    }

    fn text(&mut self) -> Result<String, CapsuleError> {
        let text = str::from_utf8(self.bytes()?).map_err(|_| CapsuleError::Damaged)?;
        Ok(text.to_owned())
    }

    fn bool(&mut self) -> Result<bool, CapsuleError> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(CapsuleError::Damaged),
        }
    }

    fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, CapsuleError>,
    ) -> Result<Option<T>, CapsuleError> {
        Ok(if self.bool()? { Some(read(self)?) } else { None })
    }
}

impl Memory {
    fn write(&self, to: &mut Writer) {
        to.number(self.size);
        to.number(u64::from(self.write));
        to.numbers(self.extent);
        to.numbers(self.index);
        to.numbers(self.shape);
        to.optional(self.before.as_deref(), Writer::bytes);
        to.optional(self.after.as_deref(), Writer::bytes);
    }

    fn read(from: &mut Reader<'_>) -> Result<Memory, CapsuleError> {
        let bytes = |from: &mut Reader<'_>| Ok(from.bytes()?.to_vec());
        Ok(Memory {
            size: from.number()?,
            write: from.bool()?,
            extent: from.numbers()?,
            index: from.numbers()?,
            shape: from.numbers()?,
            before: from.optional(bytes)?,
            after: from.optional(bytes)?,
        })
    }

    /// Bytes of the accessed box; none if they are too many to count.
    pub fn bytes(&self) -> Option<u64> {
        product(self.extent)?.checked_mul(self.size)
    }

    fn check(&self) -> Result<(), &'static str> {
        let bytes = self.bytes().ok_or("a box that is too large")?;
        let all = product(self.shape).and_then(|elements| elements.checked_mul(self.size));
        all.filter(|all| *all < 1 << 40).ok_or("a view that is too large")?;
        let pieces = [&self.before, &self.after];
        if pieces.into_iter().flatten().any(|piece| piece.len() as u64 != bytes) {
            return Err("memory of another size than its box");
        }
        let inside = |dim: usize| {
            let end = self.index[dim].checked_add(self.extent[dim]);
            end.is_some_and(|end| end <= self.shape[dim])
        };
        match bytes == 0 || (0..3).all(inside) {
            true => Ok(()),
            false => Err("a box outside of its view"),
        }
    }
}

/// The elements of a box; none if they are too many to count.
fn product(extent: [u64; 3]) -> Option<u64> {
    match extent.contains(&0) {
        true => Some(0),
        false => extent.iter().try_fold(1u64, |product, n| product.checked_mul(*n)),
    }
}

impl Capsule {
    /// As the contents of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer(MAGIC.to_vec());
        for text in [&self.device, &self.label, &self.failure] {
            to.bytes(text.as_bytes());
        }
        to.number(u64::from(self.subgroup));
        to.numbers(self.offset);
        to.numbers(self.range);
        to.optional(self.group, Writer::numbers);
        to.bytes(self.kernel.to_string().as_bytes());
        to.bytes(&self.scalars);
        to.number(self.memory.len() as u64);
        self.memory.iter().for_each(|memory| memory.write(&mut to));
        let sum = checksum(&to.0);
        to.number(sum);
        to.0
    }

    /// From the contents of a file.
    ///
    /// # Errors
    /// The contents are no capsule, of another version, damaged, or contradict themselves.
    pub fn from_bytes(bytes: &[u8]) -> Result<Capsule, CapsuleError> {
        if !bytes.starts_with(MAGIC) {
            return Err(other_file(bytes));
        }
        let (contents, sum) = bytes.split_last_chunk().ok_or(CapsuleError::Damaged)?;
        if checksum(contents) != u64::from_le_bytes(*sum) {
            return Err(CapsuleError::Damaged);
        }
        let mut from = Reader(contents.get(MAGIC.len()..).ok_or(CapsuleError::Damaged)?);
        let [device, label, failure] = [from.text()?, from.text()?, from.text()?];
        let subgroup = u32::try_from(from.number()?).map_err(|_| CapsuleError::Damaged)?;
        let (offset, range) = (from.numbers()?, from.numbers()?);
        let group = from.optional(Reader::numbers)?;
        let text = from.text()?;
        let contradiction = |what: String| CapsuleError::Contents(what);
        let kernel = parse(&text).map_err(|why| contradiction(why.to_string()))?;
        verify(&kernel).map_err(|why| contradiction(why.to_string()))?;
        let scalars = from.bytes()?.to_vec();
        let count = from.number()?;
        let memory = (0..count).map(|_| Memory::read(&mut from)).collect::<Result<_, _>>()?;
        if !from.0.is_empty() {
            return Err(CapsuleError::Damaged);
        }
        let capsule = Capsule {
            device,
            label,
            failure,
            subgroup,
            offset,
            range,
            group,
            kernel,
            scalars,
            memory,
        };
        capsule.check().map_err(|what| contradiction(what.to_owned()))?;
        Ok(capsule)
    }

    /// The parameters, the launch and the memory belong together.
    fn check(&self) -> Result<(), &'static str> {
        let size = |ty| self.kernel.types.layout(ty).0;
        let (mut words, mut memory) = (0u64, self.memory.iter());
        for param in &self.kernel.params {
            let element = match param.kind {
                ParamKind::Scalar(ty) => {
                    words = words.saturating_add(size(ty).div_ceil(8));
                    continue;
                }
                ParamKind::View { element, .. } | ParamKind::Reduce { element, .. } => element,
                ParamKind::Local { .. } => continue,
            };
            let memory = memory.next().ok_or("a parameter without memory")?;
            if memory.size != size(element) {
                return Err("elements of another size than the parameter's");
            }
            memory.check()?;
        }
        if memory.next().is_some() || words.checked_mul(8) != Some(self.scalars.len() as u64) {
            return Err("other arguments than parameters");
        }
        let ends = self.offset.iter().zip(self.range).all(|(at, n)| at.checked_add(n).is_some());
        if !ends || product(self.range).is_none() {
            return Err("a launch that is too large");
        }
        let whole = |group: [u64; 3]| {
            (0..3).all(|d| group[d] > 0 && self.range[d].is_multiple_of(group[d]))
        };
        match (self.kernel.shape.groups, self.group) {
            (false, _) => Ok(()),
            (true, Some(group)) if whole(group) && self.subgroup > 0 => Ok(()),
            (true, _) => Err("a launch that is not of whole groups"),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is no plain file, or is no capsule: see [`CapsuleError`].
    pub fn read(path: &Path) -> Result<Capsule, CapsuleError> {
        let about = fs::symlink_metadata(path)?;
        if !about.is_file() {
            return Err(CapsuleError::NotPlain);
        }
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(CapsuleError::TooLarge { bytes: about.len() });
        }
        Capsule::from_bytes(&bytes)
    }

    /// Writes a file: beside the path, and renamed when it is whole.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CapsuleError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = path.with_file_name(format!(".{name}.new"));
        // A file of that name is another's, and stays.
        let mut file = File::create_new(&beside)?;
        let written = file.write_all(&self.to_bytes()).and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            // The error is that of the write.
            let _ = fs::remove_file(&beside);
        }
        Ok(written?)
    }
}

/// Why a file is not read that does not begin as one.
fn other_file(bytes: &[u8]) -> CapsuleError {
    if !bytes.starts_with(FAMILY) {
        return match FAMILY.starts_with(bytes) {
            true if !bytes.is_empty() => CapsuleError::Damaged,
            _ => CapsuleError::NotACapsule,
        };
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match MAGIC.starts_with(bytes) {
        true => CapsuleError::Damaged,
        false => CapsuleError::Version(String::from_utf8_lossy(&line[..line.len().min(64)]).into()),
    }
}
