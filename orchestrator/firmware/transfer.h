#pragma once
// How a BMC that fetches its images gets them: over HTTPS, unless it has none or the site says so.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/image_trust.h"

namespace cupel::firmware {

/// bmc::UpdateService::ways: SimpleUpdate.
inline constexpr std::string_view kFetches = "simple";

enum class Transfer { https, http };

/// `fetches_by`: as bmc::UpdateService has them. A BMC that tells none is given HTTPS: one that has
/// no HTTPS fails before any byte of the image has gone out. Errors: kUnsupported: it fetches by
/// neither.
Result<Transfer> transfer_for(const inventory::ImageTrust& trust,
                              const std::vector<std::string>& fetches_by);

/// For people, what transfer_for() chooses and why: "over HTTPS from 10.0.0.1:8080". `trust`
/// serves.
std::string transfer_text(const inventory::ImageTrust& trust,
                          const std::vector<std::string>& fetches_by);

}  // namespace cupel::firmware
