#pragma once
// What `cupel inventory import netbox` and `cupel export netbox` have in common: where NetBox or
// Nautobot is, and the lock file beside an inventory that was imported.
#include <filesystem>

#include "orchestrator/cli/command_rows.h"
#include "orchestrator/dcim/client.h"

namespace cupel::cli {

/// Of a file that is read, in bytes.
inline constexpr std::size_t kLargestDcimFile = 64u << 20;
/// For all of one command.
inline constexpr std::chrono::minutes kDcimPatience{30};

struct DcimOptions {
  std::string url{}, token{}, ca{};
};

std::vector<OptionRow> options_of(DcimOptions& server);

/// Errors: kInvalid; those of the token's file.
Result<dcim::Client> client_of(const DcimOptions& options);

/// "KEY=VALUE", each. Errors: kInvalid, with all that are none.
Result<dcim::Filters> pairs_of(const std::vector<std::string>& words, std::string_view option);

/// Beside the inventory: which devices its nodes are.
std::filesystem::path lock_of(const std::filesystem::path& file);
/// Errors: kNotFound, kInvalid, kMalformed.
Result<json::value> read_lock(const std::filesystem::path& file);

}  // namespace cupel::cli
