#include "orchestrator/cli/signing_key.h"

#include "base/file.h"
#include "inventory/check_files.h"

namespace cupel::cli {

Result<SigningKey> signing_key(const std::string& word) {
  constexpr std::string_view kAgent = "agent:";
  constexpr std::size_t kLargest = 16UL << 10U;
  if (word.starts_with(kAgent)) {
    const auto file = word.substr(kAgent.size());
    TRY(const auto text, read_file(file, kLargest));
    return within(file, SigningKey::of_agent(text));
  }
  TRY(inventory::check_secret_file(word));
  TRY(const auto text, read_file(word, kLargest));
  return within(word, SigningKey::of_private_key(text));
}

}  // namespace cupel::cli
