#include "rehearsal/bmc/image.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kMark = "virtual firmware";

/// The lines between the mark and the first empty one; empty: it is no such image.
std::string_view header_in(std::string_view bytes) {
  if (!bytes.starts_with(kMark)) return {};
  bytes.remove_prefix(kMark.size());
  return bytes.substr(0, bytes.find("\n\n"));
}

/// What stands after that word in the header; empty: it does not stand there.
std::string_view value_in_header(std::string_view header, std::string_view word) {
  for (const auto line : lines(header)) {
    const auto reported = trimmed(line);
    if (reported.starts_with(word) && reported.substr(word.size()).starts_with(' '))
      return trimmed(reported.substr(word.size()));
  }
  return {};
}

std::vector<Flash> read_lines(std::string_view header, std::span<const Component> all,
                              const FirmwareNames& names) {
  std::vector<Flash> found;
  for (const auto line : lines(header)) {
    const auto reported = words(line);
    if (reported.size() != 2) continue;
    const auto* component = component_called(all, names, reported[0]);
    if (component) found.push_back({component->name, std::string{reported[1]}});
  }
  return found;
}

/// Without the folders before it, what follows a "?", and its last extension if that is letters.
std::string_view stem_of(std::string_view file_name) {
  file_name = file_name.substr(0, file_name.find_first_of("?#"));
  file_name.remove_prefix(std::min(file_name.rfind('/') + 1, file_name.size()));
  const auto dot = file_name.rfind('.');
  if (dot == file_name.npos) return file_name;
  const auto extension = lower_case(file_name.substr(dot + 1));
  const bool letters = !extension.empty() && extension[0] >= 'a' && extension[0] <= 'z';
  return letters ? file_name.substr(0, dot) : file_name;
}

bool is_one_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t\r\n") == text.npos;
}

Result<std::string> header_of(const ImagePlan& plan) {
  auto header = std::string{kMark} + "\n";
  if (!plan.model.empty()) header += "model " + plan.model + "\n";
  if (plan.size > 0) header += fmt::format("size {}\n", plan.size);
  for (const auto& [component, version] : plan.contents) {
    if (!is_one_word(component) || !is_one_word(version))
      return Error{Code::kInvalid, fmt::format("component '{}' and version '{}' must be one word "
                                               "each",
                                               component, version)};
    header += component + " " + version + "\n";
  }
  header += "\n";
  if (plan.model.find('\n') != plan.model.npos || header.size() > ImageReader::kMostKept)
    return Error{Code::kInvalid, "the image's header is too long"};
  return header;
}

}  // namespace

std::vector<Flash> read_image(std::string_view bytes, std::string_view file_name,
                              std::span<const std::string> targets, std::span<const Component> all,
                              const FirmwareNames& names) {
  const auto matches = [&](const Component* component) {
    return component != nullptr &&
           (targets.empty() || std::ranges::find(targets, component->name) != targets.end());
  };
  if (bytes.starts_with(kMark)) {
    auto found = read_lines(header_in(bytes), all, names);
    std::erase_if(found, [&](const Flash& flash) {
      return !matches(component_called(all, names, flash.component));
    });
    return found;
  }
  const auto stem = stem_of(file_name);
  const auto underscore = stem.rfind('_');
  if (underscore == stem.npos || underscore + 1 == stem.size()) return {};
  const std::string version{stem.substr(underscore + 1)};
  if (targets.size() == 1) return {{targets[0], version}};
  const auto* component = component_called(all, names, stem.substr(0, underscore));
  if (!matches(component)) return {};
  return {{component->name, version}};
}

std::string model_in(std::string_view bytes) {
  return std::string{value_in_header(header_in(bytes), "model")};
}

std::optional<std::string> version_in(std::string_view bytes,
                                      std::span<const std::string_view> names) {
  for (const auto name : names)
    if (const auto version = value_in_header(header_in(bytes), name); !version.empty())
      return std::string{version};
  return std::nullopt;
}

std::string damage_of(const ReceivedImage& image) {
  const auto reported = value_in_header(header_in(image.head), "size");
  if (reported.empty()) return {};
  const auto size = number<std::size_t>(reported);
  if (!size || *size != image.size)
    return fmt::format("The image is incomplete: {} bytes came, its header says {}.", image.size,
                       reported);
  return image.sealed ? "" : "The image is damaged: its SHA-256 does not fit.";
}

Result<void> write_image(const ImagePlan& plan, const std::function<void(std::string_view)>& out) {
  const auto header = header_of(plan);
  if (!header) return header.error();
  if (plan.size == 0) {
    out(*header);
    return ok();
  }
  if (plan.size < header->size() + ImageReader::kSeal)
    return Error{Code::kInvalid,
                 fmt::format("the image needs at least {} bytes for its header and its seal",
                             header->size() + ImageReader::kSeal)};
  ImageReader reader;
  const auto give = [&](std::string_view bytes) {
    reader.take(bytes);
    out(bytes);
  };
  give(*header);
  // What follows looks like anything else that was packed: no run of equal bytes.
  std::string block;
  for (int i = 0; block.size() < ImageReader::kMostKept; ++i)
    block += sha256_hex(*header + std::to_string(i));
  auto left = plan.size - header->size() - ImageReader::kSeal;
  for (; left > 0; left -= std::min(left, block.size()))
    give(std::string_view{block}.substr(0, left));
  out(reader.finish().sha256);
  return ok();
}

}  // namespace cupel::rehearsal
