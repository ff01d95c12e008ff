#pragma once
// The page of `cupel serve`: the files that a browser fetches, compiled into the program. They are
// made at build time from src/ (build.mjs); a build without npm has none of them. Data, no server.
#include <cstdint>
#include <span>
#include <string_view>

namespace cupel::web {

struct File {
  std::string_view path;  // as it is requested: "/", "/app-1a2b3c4d.js"
  std::string_view type;  // of its content, with the character set
  std::string_view etag;  // with its quotes; the same for the same bytes
  bool immutable;         // its name has its hash: browsers may keep it for ever
  std::span<const std::uint8_t> bytes;
  std::span<const std::uint8_t> gzip;
};

/// Empty where the build had no npm.
std::span<const File> files();

/// The Content-Security-Policy of all of them. The page runs no script but its own file and the one
/// that stands in index.html, by its hash, and talks to its own server alone. Empty as files().
std::string_view policy();

}  // namespace cupel::web
