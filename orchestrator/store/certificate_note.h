#pragma once
// That a certificate was made of runs, which must stay as long as it counts: held_runs.h reads it.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/engine/event.h"

namespace cupel::store {

/// Of the state folder, with a note for each certificate.
inline constexpr const char* kCertificateFolder = "certificates";

/// A small file of the state folder, named by the certificate's SHA-256. Errors: kStorage.
Result<void> note_certificate(const std::filesystem::path& folder, const std::string& sha256,
                              const std::vector<engine::RunId>& runs, engine::WallTime expires);

}  // namespace cupel::store
