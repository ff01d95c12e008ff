#pragma once
// Before a machine leaves its tenant: every NVMe drive erases itself, and the record says of each
// serial number how, with what outcome, and how that is known.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Parameters: `drives` (all; or names, "nvme2,nvme3"), `erase` (no: it only looks; yes), `method`
/// (purge: a drive that can only be cleared is not erased; any), `skip` (no; or the reason why
/// nothing is erased, which stands in the record), `limit` (4h; 1m to 7d, for all drives together).
/// By the controller's own words, in this order: sanitize by cryptographic erase, by block erase,
/// format with cryptographic erase, format with user data erase. A drive in use is not touched.
///
/// `nvme.sanitized` of each drive is 1 only where the drive's own sanitize log (of a format the
/// tool's status) reports that as completed and no known signature is left; `nvme.sanitize.failed`
/// is 1 where it was tried and did not come to that. A drive that the profile expects and the node
/// does not have counts as not erased. Each medium is a fact of the record (burnin/disk/media.h).
Stage sanitize();

}  // namespace cupel::burnin
