#pragma once
// The texts that a playbook is made of: its own, and those that it includes. Where they come from,
// and how a run keeps all of them in one.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "playbooks/read_parameters.h"

namespace cupel::playbooks {

struct Text {
  std::string file;      // as problems name it
  bool shipped = false;  // compiled into the binary
  std::string text;
  friend bool operator==(const Text&, const Text&) = default;
};

/// All that a playbook is read from: nothing else is needed to read it again.
struct Bundle {
  std::vector<Text> texts{};  // the playbook's own is the first
  Arguments arguments{};
};

/// The bundle that `text` is, or nothing where it is a playbook as people write them.
std::optional<Bundle> bundle_of(std::string_view text);

/// One text from which bundle_of() gives the same back: the playbook's own, where that is all.
std::string text_of(const Bundle& bundle);

/// Finds what is included.
class Library {
 public:
  /// From a disk: beside the including file, then among the shipped ones; what is found is added to
  /// `bundle`. `shipped`: the same, without the disk. From a bundle: only there.
  enum class From { disk, shipped, bundle };
  Library(Bundle& bundle, From from) : bundle_{bundle}, from_{from} {}

  /// `name` as `including` says it. Errors: kNotFound and what a file's reading gives, with the
  /// nearest shipped one; kInvalid where all of them together are too long.
  Result<Text> find(const Text& including, const std::string& name);

 private:
  const Text* kept(const std::string& file, bool shipped) const;
  Result<Text> keep(Text text);

  Bundle& bundle_;
  From from_;
};

/// From a file, or a shipped one by its name ("new-rack" or "playbooks/new-rack.yaml"). Errors: of
/// reading the file, with the nearest shipped one.
Result<Text> read_text(const std::string& name);

}  // namespace cupel::playbooks
