//! Messages: a list of fields, each after its length. Requests begin with a word that says what is
//! asked; replies with one that says how it went. Both ends are of one build, on one machine.

use std::io::{self, Read, Write};

/// Fields of one message.
pub type Message = Vec<Vec<u8>>;

/// No message has more bytes, so that a broken one is no request for all memory.
const MOST: u64 = 1 << 34;

pub fn send(to: &mut impl Write, fields: &[&[u8]]) -> io::Result<()> {
    to.write_all(&(fields.len() as u64).to_ne_bytes())?;
    for field in fields {
        to.write_all(&(field.len() as u64).to_ne_bytes())?;
        to.write_all(field)?;
    }
    to.flush()
}

fn number(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    let number = u64::from_ne_bytes(bytes);
    if number > MOST { Err(io::ErrorKind::InvalidData.into()) } else { Ok(number) }
}

pub fn receive(from: &mut impl Read) -> io::Result<Message> {
    let mut fields = Message::new();
    for _ in 0..number(from)? {
        let mut field = vec![0; number(from)? as usize];
        from.read_exact(&mut field)?;
        fields.push(field);
    }
    Ok(fields)
}

/// Numbers as a field.
pub fn words(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    numbers.into_iter().flat_map(u64::to_ne_bytes).collect()
}

/// A field as numbers.
pub fn numbers(field: &[u8]) -> Vec<u64> {
    field.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes)).collect()
}

/// Offsets of the rows of a rectangle.
pub fn rows(pitch: [u64; 2], extent: [u64; 3]) -> impl Iterator<Item = usize> {
    let row = move |z, y| (z * pitch[0] + y * pitch[1]) as usize;
    (0..extent[0]).flat_map(move |z| (0..extent[1]).map(move |y| row(z, y)))
}
