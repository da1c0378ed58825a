//! PageRank: how likely a reader who follows links is at each page. Each page gathers the shares of
//! the pages that link to it, so nothing is added by two items at once. The result is compared with
//! plain loops in `f64`. In the picture each pixel is a page, and pages link to pages on the way
//! to some well-known ones.
//!
//! `pagerank [PICTURE [PAGES IN A ROW]]`
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use std::error::Error;

/// How often a reader follows a link, and does not begin anew.
const FOLLOW: f32 = 0.85;
/// Most links of a page.
const LINKS: u64 = 16;
/// Steps between looks at how much has changed.
const STEPS: usize = 10;
const COLOURS: [[u8; 3]; 5] =
    [[0, 0, 4], [81, 18, 124], [183, 55, 121], [252, 137, 97], [252, 253, 191]];

/// What a page gives to each page that it links to.
#[kernel]
fn share(i: Item, links: In<u32>, rank: In<f32>, shares: Out<f32>, idle: Reduce<f32, Add>) {
    shares[i] = if links[i] == 0 { 0.0 } else { rank[i] / links[i] as f32 };
    idle.give(if links[i] == 0 { rank[i] } else { 0.0 });
}

/// What a page gets: from `sources[first[i]..first[i + 1]]`, and from pages without links.
#[kernel]
fn gather(
    i: Item,
    first: In<u32>,
    sources: In<u32>,
    shares: In<f32>,
    idle: In<f32>,
    rank: InOut<f32>,
    change: Reduce<f32, Add>,
) {
    let mut sum = idle[0] / rank.len() as f32;
    for k in first[i.index()]..first[i.index() + 1] {
        sum += shares[sources[k]];
    }
    let next = (1.0 - FOLLOW) / rank.len() as f32 + FOLLOW * sum;
    change.give((next - rank[i]).abs());
    rank[i] = next;
}

/// Which pages link to each page, one after the other, and how many links each page has.
struct Web {
    first: Vec<u32>,
    sources: Vec<u32>,
    links: Vec<u32>,
}

impl Web {
    fn new(rows: usize, columns: usize) -> Web {
        let pages = rows * columns;
        let mut state = 7u64;
        let mut random = |below: u64| {
            state =
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (state >> 33) % below
        };
        let known: Vec<usize> = (0..24).map(|_| random(pages as u64) as usize).collect();
        let mut to = vec![Vec::new(); pages];
        let links: Vec<u32> = (0..pages).map(|_| random(LINKS + 1) as u32).collect();
        for (page, links) in links.iter().enumerate() {
            for _ in 0..*links {
                // A part of the way to a well-known page, and some steps aside.
                let goal = known[(random(24) * random(24) / 24) as usize];
                let part = 9801 - random(100) as usize * random(100) as usize;
                let mut near = |from: usize, to: usize, n: usize| {
                    let on_the_way = (from * (9801 - part) + to * part) / 9801;
                    (on_the_way + random(9) as usize).clamp(4, n + 3) - 4
                };
                let row = near(page / columns, goal / columns, rows);
                let column = near(page % columns, goal % columns, columns);
                to[row * columns + column].push(page as u32);
            }
        }
        let mut first = vec![0];
        first.extend(to.iter().scan(0, |sum, sources| {
            *sum += sources.len() as u32;
            Some(*sum)
        }));
        Web { first, sources: to.concat(), links }
    }

    /// The same steps by plain loops.
    fn by_hand(&self, steps: usize) -> Vec<f64> {
        let n = self.links.len();
        let mut rank = vec![1.0 / n as f64; n];
        for _ in 0..steps {
            let of = |page: usize| rank[page] / f64::from(self.links[page]);
            let idle: f64 =
                (0..n).filter(|page| self.links[*page] == 0).map(|page| rank[page]).sum();
            let next = self.first.windows(2).map(|ends| {
                let sources = &self.sources[ends[0] as usize..ends[1] as usize];
                let sum: f64 = sources.iter().map(|page| of(*page as usize)).sum();
                let follow = f64::from(FOLLOW);
                (1.0 - follow) / n as f64 + follow * (sum + idle / n as f64)
            });
            rank = next.collect();
        }
        rank
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let columns = picture::size_or(192)?.max(64);
    let rows = columns * 3 / 4;
    let n = rows * columns;
    let web = Web::new(rows, columns);
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let (first, sources) = (rt.buffer_from(&web.first)?, rt.buffer_from(&web.sources)?);
    let links = rt.buffer_from(&web.links)?;
    let mut rank = rt.buffer_from(vec![1.0 / n as f32; n])?;
    let mut shares = rt.buffer(n)?;
    let (mut idle, mut change) = (rt.buffer::<f32, 1>(1)?, rt.buffer::<f32, 1>(1)?);
    let mut steps = 0;
    while steps < 200 {
        for _ in 0..STEPS {
            q.run(n, share(&links, &rank, &mut shares, &mut idle))?;
            q.run(n, gather(&first, &sources, &shares, &idle, &mut rank, &mut change))?;
        }
        steps += STEPS;
        if change.get(0)? < 1e-5 {
            break;
        }
    }

    let rank = rank.read()?;
    let sum: f64 = rank.iter().map(|rank| f64::from(*rank)).sum();
    assert!((sum - 1.0).abs() < 1e-4, "a reader is somewhere: {sum}");
    let wanted = web.by_hand(steps);
    for (page, (rank, wanted)) in rank.iter().zip(&wanted).enumerate() {
        assert!((f64::from(*rank) - wanted).abs() < 1e-4 * wanted, "page {page}: {rank}, {wanted}");
    }
    println!("{n} pages, {} links, {steps} steps", web.sources.len());
    let shades: Vec<f32> = rank.iter().map(|rank| (rank * n as f32).ln()).collect();
    picture::save(&shades, columns, [-1.8, 3.5], &COLOURS)
}
