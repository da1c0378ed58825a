//! Ways to submit the same commands: `cargo bench -p folio-benches --bench runs`. The device is
//! that of `FOLIO_DEVICE`; features of this package bring in those of other backends. Arguments
//! choose works by parts of their names, ways by how they begin, and how often each is timed:
//! `-- gradients "fused graph" 1000`.

use folio_benches::runs::{times, works};

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_chosen = |work: &str| words.first().is_none_or(|part| work.contains(part));
    let begins = |way: &str| words.get(1).is_none_or(|begin| way.starts_with(begin.as_str()));
    let count = words.get(2).and_then(|count| count.parse().ok()).unwrap_or(200);
    println!("medians with the wait, in microseconds, on {}", q.device().info().name);
    for work in works(&rt)?.into_iter().filter(|work| is_chosen(&work.name)) {
        println!("{}", work.name);
        for (way, time) in times(&q, &work, (&begins, count))? {
            println!("  {way:<22} {:>9.1}", time.as_secs_f64() * 1e6);
        }
        if let Some(why) = q.batch_report().why_not {
            println!("  the latest block was submitted one by one: {why}");
        }
    }
    Ok(())
}
