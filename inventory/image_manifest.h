#pragma once
// The site's list of firmware images that may be written: for which machines, in which version, of
// which bytes, until when. Signed; that a file of it is what the site signed, whoever reads it has
// checked (orchestrator/firmware/image_check.h).
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inventory/problem.h"

namespace cupel::inventory {

struct ListedImage {
  std::string vendor{};               // as `cupel bmc NODE identity` reports it; with `*`
  std::vector<std::string> models{};  // so
  std::string component{};
  std::string version{};
  std::string sha256{};  // 64 hexadecimal digits
  std::uint64_t bytes = 0;
  std::chrono::sys_days expires{};  // not written on this day or later, in UTC
  std::string floor{};  // no version of the component before this one is written; empty: none
  std::string file{};   // from the manifest's folder; empty: not named
  Place where{};

  friend bool operator==(const ListedImage&, const ListedImage&) = default;
};

struct ImageManifest {
  std::string file{};
  std::vector<ListedImage> images{};
  /// Why no second person has approved it, as downgrades need; empty: one has.
  std::string unapproved{"nobody has approved the manifest"};
};

std::string signature_file_of(const std::string& manifest);
/// The signature of a second person: "images.yaml.approval".
std::string approval_file_of(const std::string& manifest);

/// YAML or JSON. Pure. Errors: kInvalid, with all mistakes and their places.
Result<ImageManifest> parse_image_manifest(std::string_view text, const std::string& file);

/// What is asked of the manifest: one image for one machine.
struct RequestedImage {
  std::string vendor{}, model{};  // of the machine
  std::string component{}, version{};
  std::string sha256{};
};

/// The entry that allows the image to be written. Pure.
/// Errors: kUntrusted, with what is against it: not listed, for another machine or component, of
/// another version, expired, below a floor.
Result<ListedImage> allowed_image(const ImageManifest& manifest, const RequestedImage& requested,
                                  std::chrono::sys_seconds now);

/// The one image of that version of the component for the machine, whatever `requested.sha256` is.
/// Pure. Errors: as allowed_image(); kUntrusted too where no entry of it names its file, or where
/// two have different bytes.
Result<ListedImage> listed_image(const ImageManifest& manifest, RequestedImage requested,
                                 std::chrono::sys_seconds now);

}  // namespace cupel::inventory
