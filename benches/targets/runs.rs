//! Ways to submit the same commands: `cargo bench -p folio-benches --bench runs`. The device is
//! that of `FOLIO_DEVICE`; features of this package bring in those of other backends. Arguments
//! choose works and ways by parts of their names: `-- gradients "fused graph"`.

use folio_benches::runs::{times, works};

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_chosen = |name: &str, at: usize| words.get(at).is_none_or(|part| name.contains(part));
    println!("medians with the wait, in microseconds, on {}", q.device().info().name);
    for work in works(&rt)?.into_iter().filter(|work| is_chosen(&work.name, 0)) {
        println!("{}", work.name);
        for (way, time) in times(&q, &work, &|way| is_chosen(way, 1))? {
            println!("  {way:<22} {:>9.1}", time.as_secs_f64() * 1e6);
        }
        if let Some(why) = q.batch_report().why_not {
            println!("  the latest block was submitted one by one: {why}");
        }
    }
    Ok(())
}
