//! Products that blocks say they compute: as text, verified, and in texts for matrix units.

use crate::common::read;
use folio_kernel::emit::{Capabilities, Dialect, Form, emit};
use folio_kernel::parse::parse;
use folio_kernel::{Product, Stmt, rename, verify::verify, walk};

/// A group of 8 x 8 adds the product of two corners to its tile of 32 x 32.
const MULTIPLIED: &str = r#"
kernel "multiplied" groups 2 tile 1 group 64
type t0 = array f32 4
type t1 = array t0 4
param p0 = "a" view bf16 2 in item
param p1 = "b" view bf16 3 in item
param p2 = "n" scalar u64
param p3 = "y" view f32 2 out anyone
var v0 = "sum" t1
body {
  %0 u64 = arg p2
  block l0 product v0 p0[%0, %0] p1[%0, %0, %0] turned %0 {
    phase {
      %1 u64 = query local_id 0 0
    }
  }
}"#;

#[test]
fn products_are_read_and_printed() {
    let kernel = read(MULTIPLIED);
    let text = kernel.to_string();
    assert!(text.contains("block l0 product v0 p0[%0, %0] p1[%0, %0, %0] turned %0 {"), "{text}");
    assert_eq!(parse(&text).unwrap(), kernel);
}

/// A change is refused with these words.
#[track_caller]
fn refused(from: &str, to: &str, words: &str) {
    assert!(MULTIPLIED.contains(from), "{from}");
    let read = parse(&MULTIPLIED.replacen(from, to, 1)).map_err(|e| format!("not read: {e}"));
    let checked = read.and_then(|kernel| verify(&kernel).map_err(|e| e.to_string()));
    let message = checked.err().unwrap_or_default();
    assert!(message.contains(words), "{message}");
}

#[test]
fn products_are_of_matrices_and_tiles() {
    let form = "a product adds two matrices' product to a tile of `f32`";
    refused("group 64", "group 128", form);
    refused("array f32 4", "array f64 4", form);
    refused("\"sum\" t1", "\"sum\" t0", form);
    refused("\"a\" view bf16", "\"a\" view f16", form);
    refused("\"a\" view bf16 2 in item", "\"a\" view bf16 2 inout anyone", form);
    refused("\"b\" view bf16 3", "\"b\" view bf16 1", form);
    refused("p0[%0, %0]", "p2[%0, %0]", form);
    refused("p0[%0, %0]", "p0[%0]", "indices: 1 given, 2 needed");
    refused("p0[%0, %0]", "p0[%0, %7]", "%7 is not visible");
    refused("turned %0 {", "turned %1 {", "%1 is not visible");
}

/// What a block says is renamed with its body.
#[test]
fn products_are_renamed() {
    let (mut into, of) = (read(MULTIPLIED), read(MULTIPLIED));
    let names = rename::Renamer::duplicate(&mut into, &of);
    let body = names.body(&of.body);
    let mut found: Vec<&Product> = vec![];
    walk(&body, &mut |stmt| {
        if let Stmt::Block { product: Some(product), .. } = stmt {
            found.push(product);
        }
    });
    let [product] = found[..] else { panic!("{found:?}") };
    assert_eq!((product.sum.0, product.depth.0), (1, 2));
    assert!(product.operands().all(|value| value.0 == 2), "{product:?}");
}

/// Texts for launches that are proved have products by units, where the device has these and the
/// tile fits them; all others have the block's body.
#[test]
fn texts_have_products_by_units() {
    let units = Capabilities { units: 64 << 10, ..Capabilities::CUDA };
    let proved = Form { narrow: true, ..Form::new(Dialect::Cuda, false) };
    let text = |kernel: &str, form, capabilities| emit(&read(kernel), form, capabilities).unwrap();
    let module = text(MULTIPLIED, proved, &units);
    let call = "add_product<1, 32, 32, 8, 1, 32, 4, true, true, 5, 5>(sum_v0, scratch, thread, a, b, (u32)n_p2);";
    assert!(module.text.contains(call), "{}", module.text);
    // Four steps of two factors, of 32 lines of 5 pieces.
    assert_eq!(module.layout.scratch * 64, 4 * 2 * 32 * 5 * 16);
    let less = Capabilities { units: 19 << 10, ..units };
    assert!(text(MULTIPLIED, proved, &less).text.contains(", 3, true, true, 5, 5>(sum_v0"));
    let odd = MULTIPLIED.replace("array t0 4", "array t0 3");
    let large =
        MULTIPLIED.replace("array t0 4", "array t0 20").replace("array f32 4", "array f32 8");
    let wide = Form { narrow: false, ..proved };
    let none = [
        text(MULTIPLIED, proved, &Capabilities::CUDA),
        text(MULTIPLIED, proved, &Capabilities { units: 9 << 10, ..units }),
        text(MULTIPLIED, wide, &units),
        text(MULTIPLIED, Form::new(Dialect::Cuda, true), &units),
        text(MULTIPLIED, Form { narrow: true, ..Form::new(Dialect::OpenCl, false) }, &units),
        text(&odd, proved, &units),
        text(&large, proved, &units),
    ];
    for module in none {
        assert!(
            !module.text.contains("add_product") && module.layout.scratch == 0,
            "{}",
            module.text
        );
    }
}
