#pragma once
// Captured Redfish trees of real machines, which do not belong in this tree: ../shared/redfish and
// ../shared/nvl72/captures beside the checkout. Unpacked once for each process.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/support/real_part.h"

namespace cupel::test {

/// A temporary folder that goes with the process.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cupel-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::filesystem::path captures() { return SOURCE_DIR "/../shared/redfish"; }

/// The folder of one captured machine, holding redfish/v1/**; nothing where there is none.
inline std::optional<std::filesystem::path> capture(const std::string& machine) {
  static const TemporaryFolder folder;
  static std::map<std::string, bool> unpacked;
  const auto name = machine + ".tar.zst";
  auto archive = captures() / name;
  if (!std::filesystem::exists(archive)) archive = SOURCE_DIR "/../shared/nvl72/captures/" + name;
  const auto target = folder.path() / machine;
  if (const auto known = unpacked.find(machine); known != unpacked.end())
    return known->second ? std::optional{target} : std::nullopt;
  const std::string command = "tar --zstd -xf " + shell_quoted(archive.string()) + " -C " +
                              shell_quoted(folder.path().string()) + " 2>/dev/null";
  const bool good = std::filesystem::exists(archive) && std::system(command.c_str()) == 0;
  unpacked[machine] = good;
  return good ? std::optional{target} : std::nullopt;
}

/// The answer to a GET of `uri` as it was captured, byte for byte.
inline std::optional<std::string> captured_answer(const std::filesystem::path& tree,
                                                  std::string_view uri) {
  std::string path{uri.substr(0, uri.find_first_of("?#"))};
  while (path.ends_with('/')) path.pop_back();
  if (path.find("..") != std::string::npos || !path.starts_with('/')) return std::nullopt;
  auto file = read_file(tree.string() + path + "/index.json", 64u << 20);
  if (!file) return std::nullopt;
  return *std::move(file);
}

}  // namespace cupel::test

/// Ends the test, as skipped or failed, unless the capture is there; names its folder otherwise.
#define CUPEL_NEED_CAPTURE(tree, machine)                                             \
  const auto tree##_found = ::cupel::test::capture(machine);                          \
  if (!tree##_found && ::cupel::test::real_parts_are_required())                      \
    FAIL() << "no capture " << (machine) << " in " << ::cupel::test::captures();      \
  if (!tree##_found)                                                                  \
    GTEST_SKIP() << "no capture " << (machine) << " in " << ::cupel::test::captures() \
                 << ": put the Redfish captures there to run this";                   \
  const std::filesystem::path tree = *tree##_found
