//! Pictures for the programs of the gallery: PNG files with a byte for each pixel, by plain Rust.
//! Each program takes `[PICTURE [SIZE]]`: the file to write, and a number of its own kind.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The second word of the command line, or what is usual.
pub fn size_or(usual: usize) -> Result<usize, Box<dyn Error>> {
    let word = env::args().nth(2);
    let size = word.map_or(Ok(usual), |word| word.parse().map_err(|e| format!("{word}: {e}")))?;
    if size == 0 { Err("a size of 0".into()) } else { Ok(size) }
}

/// Writes values, row after row, to the file that the command line names, or to one in the folder
/// for temporary files. The least value has the first of the colours, the most the last one; values
/// between have colours between.
pub fn save(
    values: &[f32],
    columns: usize,
    [least, most]: [f32; 2],
    colours: &[[u8; 3]],
) -> Result<(), Box<dyn Error>> {
    let mut words = env::args();
    let program = PathBuf::from(words.next().unwrap_or_default());
    let named = || {
        let name = Path::new(program.file_stem().unwrap_or_default()).with_extension("png");
        env::temp_dir().join(name)
    };
    let path = words.next().map_or_else(named, PathBuf::from);
    let shade = |v: &f32| (255.0 * (v - least) / (most - least)).round() as u8;
    let rows = values.chunks(columns);
    let height = rows.len();
    // Each row begins with the number of its filter: 0 is none.
    let pixels = rows.flat_map(|row| [0].into_iter().chain(row.iter().map(shade))).collect();
    fs::write(&path, png(columns, height, pixels, &palette(colours)))
        .map_err(|e| format!("{}: {e}", path.display()))?;
    println!("{columns} x {height} pixels in {}", path.display());
    Ok(())
}

/// 256 colours from the first to the last one.
fn palette(colours: &[[u8; 3]]) -> Vec<u8> {
    let last = colours.len() - 1;
    let of_shade = |shade: usize| {
        let (nth, part) = (shade * last / 255, shade * last % 255);
        let (from, to) = (colours[nth], colours[(nth + 1).min(last)]);
        let mix =
            |k: usize| (usize::from(from[k]) * (255 - part) + usize::from(to[k]) * part) / 255;
        [0, 1, 2].map(|k| mix(k) as u8)
    };
    (0..256).flat_map(of_shade).collect()
}

/// A file of one byte for each pixel, not compressed.
fn png(width: usize, height: usize, pixels: Vec<u8>, palette: &[u8]) -> Vec<u8> {
    let size = [width as u32, height as u32].map(u32::to_be_bytes).concat();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &[&size[..], &[8, 3, 0, 0, 0]].concat());
    chunk(&mut file, b"PLTE", palette);
    chunk(&mut file, b"IDAT", &stored(&pixels));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// A chunk: its length, its kind, its data and their check.
fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(kind.iter().chain(data));
    let bit = |crc: u32, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1));
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), bit);
    let crc = !file[start..].iter().fold(!0, byte);
    file.extend(crc.to_be_bytes());
}

/// A stream of zlib whose blocks are stored as they are.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = data.chunks(0xFFFF);
    let last = blocks.len() - 1;
    for (nth, block) in blocks.enumerate() {
        let length = block.len() as u16;
        stream.push(u8::from(nth == last));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    let sum = |(a, b): (u32, u32), byte: &u8| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    };
    let (a, b) = data.iter().fold((1, 0), sum);
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}
