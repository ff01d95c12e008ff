#include "orchestrator/store/evidence.h"

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

std::filesystem::path evidence_file(const std::filesystem::path& folder, std::string_view hash) {
  return folder / "evidence" / std::string{hash.substr(0, 2)} / std::string{hash};
}

}  // namespace

Result<std::string> Store::keep_evidence(std::string_view bytes) {
  if (bytes.size() > kEvidenceLimit)
    return Error{Code::kStorage, fmt::format("evidence has at most {} bytes", kEvidenceLimit)};
  const auto hash = sha256_hex(bytes);
  const auto file = evidence_file(folder_, hash);
  std::error_code failure;
  if (std::filesystem::exists(file, failure)) {
    if (evidence(hash)) return hash;
    // It was changed on disk. Both are kept: what is there now may tell somebody how.
    auto aside = file;
    aside += ".damaged";
    std::filesystem::rename(file, aside, failure);
  }
  const auto drawer = file.parent_path();
  const bool fresh = std::filesystem::create_directories(drawer, failure);
  TRY(within("cannot keep evidence", write_file(file, bytes, 0600)));
  // Who names it in the journal must find it after a power cut too.
  TRY(within("cannot keep evidence", sync_folder(drawer)));
  if (!fresh) return hash;
  TRY(within("cannot keep evidence", sync_folder(drawer.parent_path())));
  TRY(within("cannot keep evidence", sync_folder(folder_)));
  return hash;
}

Result<std::string> Store::evidence(std::string_view hash) const {
  if (!is_evidence_name(hash))
    return Error{Code::kInvalid, "an evidence's name is 64 hexadecimal digits"};
  TRY(auto bytes, read_file(evidence_file(folder_, hash), kEvidenceLimit));
  if (sha256_hex(bytes) != hash)
    return Error{Code::kMalformed, "evidence " + std::string{hash} + " was changed on disk"};
  return bytes;
}

}  // namespace cupel::store
