#include "orchestrator/cli/signing_key.h"

#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/task.h"
#include "inventory/check_files.h"
#include "inventory/read_access.h"
#include "inventory/secret.h"

namespace cupel::cli {
namespace {

/// Empty where the token's name says no place of a PIN.
Result<std::string> pin_of(const TokenKey& key) {
  if (key.pin_source.empty()) return std::string{};
  const auto place = inventory::secret_of(key.pin_source, working_folder());
  if (!place)
    return Error{Code::kInvalid,
                 "pin-source says where the PIN is: file:PATH, env:NAME or cmd:COMMAND"};
  constexpr std::chrono::seconds kPatience{30};
  asio::io_context io{1};
  return within("pin-source",
                run_to_end(io, inventory::resolve_secret(*place, Deadline::in(kPatience))));
}

Result<SigningKey> key_of_token(const std::string& uri) {
  TRY(auto key, parse_token_key(uri));
  TRY(auto pin, pin_of(key));
  return SigningKey::of_token(std::move(key), std::move(pin));
}

}  // namespace

Result<SigningKey> signing_key(const std::string& word) {
  constexpr std::string_view kAgent = "agent:";
  constexpr std::size_t kLargest = 16UL << 10U;
  if (word.starts_with(kAgent)) {
    const auto file = word.substr(kAgent.size());
    TRY(const auto text, read_trusted_file(file, kLargest));
    return within(file, SigningKey::of_agent(text));
  }
  if (word.starts_with("pkcs11:")) return within("--key pkcs11", key_of_token(word));
  TRY(inventory::check_secret_file(word));
  TRY(const auto text, read_file(word, kLargest));
  return within(word, SigningKey::of_private_key(text));
}

}  // namespace cupel::cli
