// Raw outputs, as files named by their SHA-256.
#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

constexpr std::size_t kEvidenceLimit = 256u << 20;

std::filesystem::path evidence_file(const std::filesystem::path& folder, std::string_view hash) {
  return folder / "evidence" / std::string{hash.substr(0, 2)} / std::string{hash};
}

}  // namespace

Result<std::string> Store::keep_evidence(std::string_view bytes) {
  const auto hash = sha256_hex(bytes);
  const auto file = evidence_file(folder_, hash);
  std::error_code failure;
  if (std::filesystem::exists(file, failure)) return hash;
  std::filesystem::create_directories(file.parent_path(), failure);
  TRY(within("cannot keep evidence", write_file(file, bytes, 0600)));
  return hash;
}

Result<std::string> Store::evidence(std::string_view hash) const {
  constexpr std::size_t kDigits = 64;
  const bool well_formed =
      hash.size() == kDigits && hash.find_first_not_of("0123456789abcdef") == hash.npos;
  if (!well_formed) return Error{Code::kInvalid, "an evidence's name is 64 hexadecimal digits"};
  TRY(auto bytes, read_file(evidence_file(folder_, hash), kEvidenceLimit));
  if (sha256_hex(bytes) != hash)
    return Error{Code::kMalformed, "evidence " + std::string{hash} + " was changed on disk"};
  return bytes;
}

}  // namespace cupel::store
