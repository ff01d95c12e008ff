#pragma once
// What a catalogue rack for updates has beside the others: a profile for each update that is
// requested, its image, and a manifest that a key of this rack's own has signed, and a second one
// approved.
#include <filesystem>
#include <set>

#include "base/result.h"
#include "rehearsal/catalogue.h"

namespace cupel::rehearsal {

/// What the inventory says of the manifest, as a line of YAML.
constexpr std::string_view kManifestLine = "firmware: {manifest: images.yaml, key: site.pub}\n";

/// Writes profiles/PROFILE.yaml of each, on top of `patience` (a line of a profile), the images,
/// and the manifest with its signature, below `folder`. An image that is corrupted or truncated is
/// so after the manifest was signed. The private key is written nowhere. Errors: kStorage; kFailed.
Result<void> write_updates(const std::filesystem::path& folder,
                           const std::set<PlannedUpdate>& updates, std::string_view patience,
                           double speed);

}  // namespace cupel::rehearsal
