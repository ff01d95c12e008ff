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
  bool immutable;         // its name has its hash: browsers may keep it for ever
  std::span<const std::uint8_t> bytes;
  std::span<const std::uint8_t> gzip;
};

/// Empty where the build had no npm.
std::span<const File> files();

/// The Content-Security-Policy of all of them. The page runs no script but its own files, and talks
/// to its own server alone.
inline constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

}  // namespace cupel::web
