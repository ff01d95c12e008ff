#include "orchestrator/cli/dcim_server.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "inventory/check_files.h"
#include "inventory/read_access.h"
#include "inventory/read_bmc.h"
#include "inventory/read_slurm.h"
#include "inventory/secret.h"
#include "orchestrator/cli/ca_file.h"

namespace cupel::cli {

namespace fs = std::filesystem;

std::vector<OptionRow> options_of(DcimOptions& server) {
  return {{"--url", &server.url, "of its front page: https://netbox.example.com", kRequired},
          {"--token", &server.token, "of its API: file:PATH, env:NAME or cmd:COMMAND", kRequired},
          {"--ca", &server.ca, "PEM file of the authority of its certificate [the system's]"}};
}

Result<dcim::Client> client_of(const DcimOptions& options) {
  if (const auto fault = inventory::fault_in_server_url(options.url, false))
    return Error{Code::kInvalid, "--url " + *fault};
  std::error_code unknown;
  const auto token = inventory::secret_of(options.token, fs::current_path(unknown));
  if (!token) return Error{Code::kInvalid, "--token " + std::string{inventory::kSecretForm}};
  if (token->kind == inventory::SecretRef::Kind::file) {
    TRY(inventory::check_secret_file(token->where));
  }
  TRY(check_ca_file(options.ca));
  auto url = options.url;
  while (url.ends_with('/')) url.pop_back();
  return dcim::Client{std::move(url), options.ca, *token};
}

Result<dcim::Filters> pairs_of(const std::vector<std::string>& words, std::string_view option) {
  dcim::Filters pairs;
  std::string wrong;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const bool is_pair = equals != word.npos && equals > 0 && equals + 1 < word.size();
    if (is_pair)
      pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    else
      wrong += fmt::format("{}{} '{}' is no NAME=VALUE", wrong.empty() ? "" : "; ", option,
                           printable(word));
  }
  if (!wrong.empty()) return Error{Code::kInvalid, wrong};
  return pairs;
}

fs::path lock_of(const fs::path& file) { return file.string() + ".lock.json"; }

Result<json::value> read_lock(const fs::path& file) {
  TRY(const auto text, read_file(lock_of(file), kLargestDcimFile));
  auto lock = parse_json(text);
  if (!lock)
    return Error{Code::kMalformed,
                 fmt::format("{}: {}", lock_of(file).string(), lock.error().what)};
  return lock;
}

}  // namespace cupel::cli
