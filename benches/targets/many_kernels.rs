//! The program that `compile.rs` compiles; without its kernels, a program that does nothing.
#![allow(unexpected_cfgs, dead_code, unused_imports, reason = "nobody wrote the kernels")]

#[cfg(many_kernels)]
include!(env!("FOLIO_MANY_KERNELS"));

fn main() {
    #[cfg(many_kernels)]
    if let Ok(rt) = folio::runtime() {
        println!("{:?}", rt.queue().and_then(|q| all(&rt, &q)));
    }
}
