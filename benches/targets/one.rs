fn main(){ let n=1_000_000; for _ in 0..3 { let t=folio_benches::submit::stream(n, folio_benches::submit::CHAIN).unwrap(); println!("{:.0} ns", t.as_nanos() as f64/n as f64);} }
