#pragma once
// A vendor's advisory as CSAF 2.0 (OASIS Standard, November 2022): which versions of which products
// are fixed. Pure; what it reads comes from outside.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/security_floor.h"

namespace cupel::inventory {

/// A version of a product that no vulnerability of the advisory affects; or the last one of a
/// branch that is affected.
struct FixedVersion {
  std::string product{};  // names of its branches without the vendor's: "Linux(R595) Tesla"
  std::string version{};
  friend bool operator==(const FixedVersion&, const FixedVersion&) = default;
};

struct Advisory {
  std::string id{}, date{}, publisher{}, title{};  // date: "2026-05-19"
  std::vector<FixedVersion> fixed{};               // by product and version, all of them
  std::vector<std::string> without_fix{};          // "PRODUCT 1.19.0": affected, and nothing later
  std::vector<FixedVersion> affected{};            // the same
};

/// At most 50,000 products, 10,000 vulnerabilities, and of versions what can be compared in
/// seconds. Versions come from product_status and from
/// vendor_fix remediations; of branches of either version category, relationships and
/// full_product_names; as `vers` or vls ranges (3.1.2.3.2), and in the words that vendors use
/// instead ("All versions prior to 1.2", "1.2 or newer"). Errors: kMalformed: no JSON; kInvalid: no
/// CSAF 2.0, a draft, or over a bound, with all that is wrong.
Result<Advisory> parse_csaf(std::string_view text);

/// Which component the products are.
struct FloorChoice {
  std::string component{};  // empty: as the products' names say
  std::string product{};    // a pattern of the products that are meant; empty: all
  std::vector<std::string> models{};
};

struct FloorImport {
  std::vector<FloorRow> rows{};         // one for each version; their branch is its first number
  std::vector<FloorRow> unfixed{};      // at_least: affected, as are those of the branch before it
  std::vector<std::string> left_out{};  // "PRODUCT VERSION": of no component that Cupel knows
};

FloorImport floor_rows(const Advisory& advisory, const FloorChoice& choice);

struct FloorMerge {
  SecurityFloor floor{};
  /// "driver 595: at least 595.71.05, was 595.58.03"; what was at or above the advisory is not
  /// changed, and said.
  std::vector<std::string> changes{};
  /// "runc 1.2.9": another version counts in its branch, or the two have no order.
  std::vector<std::string> left_out{};
};

/// A later version takes the place of an earlier one of the same component, branch and models. A
/// floor's own branches stay: 1.2.9 goes to "1.2" where it has that. A row whose own version is
/// affected and has no fix goes, so that the next later row judges its branch; where there is none,
/// it stays, and that is reported.
FloorMerge merged(SecurityFloor floor, const FloorImport& import);

}  // namespace cupel::inventory
