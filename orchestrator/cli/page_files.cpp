#include "orchestrator/cli/page_files.h"

#include "orchestrator/web/web_files.h"

namespace cupel::cli {
namespace {

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::span<const api::StaticFile> page_files() {
  static const auto all = [] {
    std::vector<api::StaticFile> found;
    for (const auto& file : web::files())
      found.push_back(
          {file.path, file.type, text_of(file.bytes), text_of(file.gzip), file.immutable});
    return found;
  }();
  return all;
}

std::string_view page_policy() { return web::kPolicy; }

}  // namespace cupel::cli
