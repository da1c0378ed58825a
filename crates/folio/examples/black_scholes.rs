//! Options by Black and Scholes: what a right to buy, and one to sell, is worth, for each price of
//! the share and each time that is left. The picture has what the right to buy is worth beyond what
//! it would pay today. Prices are compared with integrals over all that the share may do.
//!
//! `black_scholes [PICTURE [PRICES]]`
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use std::error::Error;

const MARKET: Market = Market { strike: 100.0, rate: 0.03, volatility: 0.25 };
/// The share's price in the first and the last column.
const SPOTS: [f32; 2] = [40.0, 200.0];
/// The time that is left in the last row.
const YEARS: f32 = 3.0;
const COLOURS: [[u8; 3]; 5] =
    [[13, 8, 80], [126, 3, 168], [204, 71, 120], [248, 149, 64], [240, 249, 33]];

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Market {
    strike: f32,
    rate: f32,
    volatility: f32,
}

/// The share of a normal distribution below `x`: Abramowitz and Stegun, 26.2.17.
#[device_fn]
fn normal(x: f32) -> f32 {
    const FACTORS: [f32; 5] = [0.319_381_54, -0.356_563_78, 1.781_477_9, -1.821_255_9, 1.330_274_4];
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let mut sum = 0.0;
    for k in 0..5 {
        sum = (sum + FACTORS[4 - k]) * t;
    }
    let tail = 0.398_942_3 * (-0.5 * x * x).exp() * sum;
    if x < 0.0 { tail } else { 1.0 - tail }
}

#[kernel]
fn prices(
    i: Item<2>,
    market: Market,
    spot: In<f32>,
    years: In<f32>,
    call: Out<f32, 2>,
    put: Out<f32, 2>,
) {
    let (row, column) = i.pos();
    let (s, t) = (spot[column], years[row]);
    let spread = market.volatility * t.sqrt();
    let drift = (market.rate + 0.5 * market.volatility * market.volatility) * t;
    let d1 = ((s / market.strike).ln() + drift) / spread;
    let d2 = d1 - spread;
    let later = market.strike * (-market.rate * t).exp();
    call[i] = s * normal(d1) - later * normal(d2);
    put[i] = later * normal(-d2) - s * normal(-d1);
}

/// What the right to buy is worth: its mean over all prices that the share may have.
fn integral(s: f64, t: f64) -> f64 {
    let (strike, rate) = (f64::from(MARKET.strike), f64::from(MARKET.rate));
    let volatility = f64::from(MARKET.volatility);
    let dz = 1e-3;
    let of = |nth: i32| {
        let z = f64::from(nth) * dz;
        let later =
            s * ((rate - 0.5 * volatility * volatility) * t + volatility * t.sqrt() * z).exp();
        (later - strike).max(0.0) * (-0.5 * z * z).exp()
    };
    let sum: f64 = (-9000..=9000).map(of).sum();
    sum * dz / std::f64::consts::TAU.sqrt() * (-rate * t).exp()
}

fn main() -> Result<(), Box<dyn Error>> {
    let columns = picture::size_or(256)?;
    let rows = (columns * 3).div_ceil(4);
    let step = (SPOTS[1] - SPOTS[0]) / columns as f32;
    let spots: Vec<f32> = (0..columns).map(|k| SPOTS[0] + step * k as f32).collect();
    let years: Vec<f32> = (1..=rows).map(|k| YEARS * k as f32 / rows as f32).collect();

    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let (spot, left) = (rt.buffer_from(&spots)?, rt.buffer_from(&years)?);
    let (mut call, mut put) = (rt.buffer([rows, columns])?, rt.buffer([rows, columns])?);
    q.run(call.range(), prices(MARKET, &spot, &left, &mut call, &mut put))?;

    let (call, put) = (call.read()?, put.read()?);
    let mut beyond = Vec::new();
    for (row, t) in years.iter().enumerate() {
        let later = MARKET.strike * (-MARKET.rate * t).exp();
        for (column, s) in spots.iter().enumerate() {
            // A right to buy without one to sell is the share, bought with a loan.
            let (c, p) = (call[(row, column)], put[(row, column)]);
            assert!((c - p - (s - later)).abs() < 2e-4, "{s} in {t} years: {c} and {p}");
            beyond.push(c - (s - MARKET.strike).max(0.0));
        }
    }
    let mut most = 0.0f64;
    for row in (0..rows).step_by(rows.div_ceil(6)) {
        for column in (0..columns).step_by(columns.div_ceil(6)) {
            let wanted = integral(f64::from(spots[column]), f64::from(years[row]));
            most = most.max((f64::from(call[(row, column)]) - wanted).abs());
        }
    }
    assert!(most < 1e-3, "{most}");
    println!("{} options; those looked at are within {most:.6} of their integrals", 2 * call.len());
    let worth = beyond.iter().fold(0.0f32, |most, v| most.max(*v));
    picture::save(&beyond, columns, [0.0, worth], &COLOURS)
}
