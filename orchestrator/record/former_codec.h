#pragma once
// What Cupel's former journals say in words, as numbers: verdicts without "format" have the texts
// of their criteria only ("81.5 GiB", "at least 79 GiB"). Journals are never rewritten, their
// events are chained by hashes: what they say is read so for ever.
#include <boost/json/value.hpp>
#include <optional>
#include <vector>

#include "burnin/verdict.h"
#include "inventory/audit.h"

namespace cupel::record {

std::vector<burnin::Checked> former_checked(const boost::json::value* value);

/// 31 of 32 where an audit finding says "31", and expected "32 dimms".
std::optional<inventory::PartCount> former_count(const inventory::AuditFinding& finding);

}  // namespace cupel::record
