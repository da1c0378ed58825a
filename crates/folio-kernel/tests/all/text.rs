//! The text form: what is printed is read back, and names the content (KRN-01's IR).

use crate::common::{GROUPED, GUARDED, SAXPY, read};
use folio_kernel::parse::parse;
use folio_kernel::{Access, Builder, Composite, Owner, Place, Scalar, Site};

#[test]
fn what_is_printed_is_read_back() {
    for text in [SAXPY, GUARDED, GROUPED] {
        let kernel = read(text);
        assert_eq!(kernel.to_string(), text.trim_start().to_owned() + "\n");
        assert_eq!(parse(&kernel.to_string()).unwrap(), kernel);
    }
}

#[test]
fn odd_names_and_numbers_are_read_back() {
    let mut b = Builder::items("a \"b\" \\ \n ü", 1);
    let pair = b.types().structure("Pair", &[("x", Scalar::F32.into()), ("y", Scalar::U32.into())]);
    let four = b.types().array(pair, 4);
    assert_eq!(b.types().layout(four), (32, 4));
    let y = b.view("y", four, 1, Access::InOut, Owner::Item);
    let i = b.position(0);
    for bits in [0u32, 0x8000_0000, 1, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0x3f80_0000] {
        b.bits(Scalar::F32, bits.into());
        b.bits(Scalar::F64, u64::from(bits) << 32 | 7);
        b.bits(Scalar::F16, u64::from(bits >> 16));
    }
    b.int(Scalar::I8, -128);
    b.int(Scalar::I64, i64::MIN.into());
    b.int(Scalar::U64, u64::MAX.into());
    let three = b.index(3);
    let x = b.load(Place::element(y, [i]).at(three).part(0));
    b.at(Site { file: "a\\b.rs".into(), line: 3, column: 4, message: Some("\"no\"".into()) });
    b.store(Place::element(y, [i]).part(1).part(0), x);
    let var = b.var("v", four, false);
    let x = b.load(Place::var(var).part(2).part(1));
    let x2 = b.load(Place::var(var).at(three).part(1));
    b.store(Place::var(var).at(three).part(1), x);
    b.store(Place::var(var).part(1).part(1), x2);
    let kernel = b.finish().unwrap();
    let again = parse(&kernel.to_string()).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
    assert_eq!(again, kernel);
    assert!(matches!(kernel.types.get(four), Some(Composite::Array { len: 4, .. })));
}

#[test]
fn equal_content_has_equal_hashes_and_other_content_another() {
    let kernel = read(SAXPY);
    let hash = kernel.content_hash();
    assert_eq!(read(SAXPY).content_hash(), hash);
    // The hash is in disk caches: when this changes, so must the caches' version.
    assert_eq!(hash.to_string(), "8d322fdb4a68a312c52db8c4bde622c8");
    for (from, to) in [("\"a\"", "\"b\""), ("mul %0, %2", "mul %2, %0"), ("inout", "out")] {
        let other = parse(&SAXPY.replace(from, to)).unwrap();
        assert_ne!(other.content_hash(), hash, "{to}");
    }
}

#[test]
fn broken_texts_are_refused_with_their_line() {
    let check = |from: &str, to: &str, line: usize, wanted: &str| {
        let error = parse(&SAXPY.replacen(from, to, 1)).unwrap_err();
        assert_eq!((error.line, error.wanted), (line, wanted), "{error}");
    };
    check("mul %0", "mull %0", 10, "an operation");
    check("%5 f32", "%5 g32", 12, "a type");
    check("store p2", "stor p2", 13, "a statement");
    check("param p1", "param p3", 4, "declarations in order");
    check("%4 f32", "%99999999 f32", 11, "a value");
    check("\"y\"", "\"y", 5, "a text that ends");
    check("\n}", "\n", 13, "a statement");
    let deep = "block l0 { ".repeat(100_000);
    let error = parse(&SAXPY.replace("body {", &format!("body {{ {deep}"))).unwrap_err();
    assert_eq!(error.wanted, "bodies less deep");
}

#[test]
fn any_cut_or_mutated_text_is_read_or_refused() {
    // No panic, whatever the text.
    for text in [SAXPY, GUARDED, GROUPED] {
        for at in 0..text.len() {
            let _ = parse(&text[..at]);
            for c in ["%", "}", "9", " ", "\"", "p", "-1"] {
                let _ = parse(&format!("{}{c}{}", &text[..at], &text[at + 1..]))
                    .map(|kernel| folio_kernel::verify::verify(&kernel).is_ok());
            }
        }
    }
}
