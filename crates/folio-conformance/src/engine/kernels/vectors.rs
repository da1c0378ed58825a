//! The vectors that the library has.
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio::vector::{Vec2, Vec3, Vec4};

#[kernel]
fn geometry(
    i: Item,
    by: Vec3<f32>,
    v: In<Vec3<f32>>,
    y: Out<Vec4<f32>>,
    z: Out<Vec2<i32>>,
    w: Out<Vec4<i32>>,
) {
    let a = v[i];
    let turned = a.cross(by) - by * a.dot(by) + a.zyx() / 3.0;
    let share: f32 = a.x * 0.5;
    let turned = share * turned + 0.25 * v[i];
    y[i].x = 2.0 * turned.x;
    y[i].y = (-turned).y;
    y[i].z = turned.normalized().length();
    y[i].w = turned.xz().dot(a.yz());
    let place = Vec2::new(i.index() as i32, 3);
    z[i] = place.times(Vec2::splat(2)) + place.yx();
    let four = Vec4::new(place.x, 1, place.y, -7);
    w[i] = four.wzyx() - four * four.xyz().zxy().xy().x;
}

/// KRN-01
pub(super) fn vectors_have_their_operators(rig: &Rig) -> Outcome {
    let by = Vec3::new(0.5f32, -2.0, 1.25);
    let v = data([70], |k| Vec3::new(wave(k), wave(k + 1), wave(k + 2)));
    let (y, z) = (data([70], |_| Vec4::splat(0f32)), data([70], |_| Vec2::splat(0)));
    let w = data([70], |_| Vec4::splat(0));
    let args = vec![scalar(by), v.arg(), y.arg(), z.arg(), w.arg()];
    fine(agree::<geometry>(rig, &[70], args, |rt, q| {
        let (v, mut y) = (v.buffer(rt)?, y.buffer(rt)?);
        let (mut z, mut w) = (z.buffer(rt)?, w.buffer(rt)?);
        q.run(70, geometry(by, &v, &mut y, &mut z, &mut w))?;
        Ok(vec![contents(&y)?, contents(&z)?, contents(&w)?])
    })?)?;
    let (x, y, z) =
        (Vec3::new(1f32, 0.0, 0.0), Vec3::new(0f32, 1.0, 0.0), Vec3::new(0f32, 0.0, 1.0));
    ensure_eq!([x.cross(y), y.cross(z), z.cross(x)], [z, x, y]);
    ensure_eq!((x * 3.0 + 4.0 * y).length(), 5.0);
    Ok(())
}
