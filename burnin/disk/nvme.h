#pragma once
// Every data drive at once: sequential and random, verified block by block (fio, crc32c), with what
// its SMART log said before and after. Overwrites nothing that anybody could still want.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Parameters: `drives` (all; or names, "nvme2,nvme3"), `size` of what is written and verified on
/// each (4GiB; 16 MiB to 16 TiB), `runtime` of each of four measurements (30s; 1s to 24h), `raw`:
///   no     a file in a folder of its own on each mounted file system of the drives;
///   yes    and on drives that hold nothing at all, the drive itself: no file system, partition
///          table, RAID or LVM member, holder or swap, nothing mounted, in the eyes of blkid,
///          wipefs, lsblk and the kernel. One that holds something and is not in use is only read;
///   force  also on drives that hold something. Only on drives named in `drives`, and never on one
///          that is mounted, swapped on, or held by another device.
/// A drive is written itself only where it has the serial number that its name had when the stage
/// began. One that was asked for (raw: no asks for mounted ones) and not written is `nvme.burned`
/// 0, with the reason; where the profile has no criterion for that, the stage is left without a
/// result. Parts: "nvme0"; an array of several, whose errors and speeds are no one drive's,
/// "nvme2+nvme3". Why these guards: docs/build/decisions/drives.md.
/// Source: fio(1); blkid(8), "-p"; wipefs(8); lsblk(8); NVM Express Base
/// Specification 2.0, 5.16.1.3.
Stage nvme();

}  // namespace cupel::burnin
