#pragma once
// What a vendor gets with a part that goes back: a cover page, serial numbers, measurements against
// criteria and fleet, raw outputs, and a manifest of hashes. From the store and what is given with
// it; without the site's own secrets and without what has the usual form of one.
#include <string>
#include <vector>

#include "orchestrator/report/summary.h"
#include "orchestrator/rma/tar.h"
#include "orchestrator/store/store.h"

namespace cupel::rma {

struct BundleRequest {
  std::string node{};
  std::string part{};                  // "gpu3"; empty: the machine, with all that failed
  std::vector<std::string> secrets{};  // of the site, to be taken out wherever they stand
  std::string bug_report{};            // text of nvidia-bug-report.sh; empty: none
  /// That the BMC has collected. Texts are put in without secrets; what is packed is put in as it
  /// is, and the cover page says so.
  std::vector<BundleFile> diagnostics{};
  std::vector<BundleFile> attached{};  // by its operator, put in as they are
};

/// The files in their order, the manifest last ("SHA-256  NAME" of each other one, as sha256sum -c
/// reads it). Errors: kNotFound: the run has no such node, or the node no such part; kInvalid:
/// there is nothing to complain of; kStorage.
Result<std::vector<BundleFile>> bundle_of(const store::Store& store,
                                          const report::RunSummary& summary,
                                          const BundleRequest& request);

/// Whether secrets can be taken out of it: UTF-8, and no binary. Pure.
bool is_text(std::string_view bytes);

/// Of each measure of the part: its value, and the lowest, median and highest of the same part of
/// the run's other nodes of that profile. CSV. Pure.
std::string fleet_csv(const report::RunSummary& summary, const std::string& node,
                      const std::string& part);

}  // namespace cupel::rma
