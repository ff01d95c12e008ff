#pragma once
// The shared file system as this node sees it: mounted as it should be, written, verified and read
// while the other nodes of its group do the same.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Parameters: `directory` below the mount (must be given), `type` of the file system (must be
/// given: lustre, nfs, beegfs, gpfs, weka, ceph, or a type as /proc/mounts has it), `size` of this
/// node's scratch file (4GiB; 16 MiB to 16 TiB), `runtime` of writing and of reading (60s; 1s to
/// 24h). Another type than was given, a local disk above all, is a finding (storage.mounted 0), and
/// nothing is written to it. With `group_by: all` (or rack) in the playbook, all nodes of the group
/// begin at the same moment; `storage.nodes` counts those whose folders were there while this one
/// worked. Source: fio(1); proc(5), /proc/[pid]/mounts.
Stage storage();

}  // namespace cupel::burnin
