#include "playbooks/texts.h"

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/ownership.h"
#include "base/text.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"
#include "playbooks/format.h"

namespace cupel::playbooks {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = R"({"cupel-bundle":)";

std::string shipped_path(const std::string& name) {
  return "playbooks/" + fs::path{name}.stem().string() + ".yaml";
}

std::optional<Text> shipped_text(const std::string& name) {
  const auto folder = fs::path{name}.parent_path();
  if (!folder.empty() && folder != "playbooks") return std::nullopt;
  const auto* file = inventory::shipped_file(shipped_path(name));
  if (file == nullptr) return std::nullopt;
  return Text{std::string{file->path}, true, std::string{file->text}};
}

Error not_found(const std::string& name, Error error) {
  std::vector<std::string> known;
  for (const auto& file : inventory::shipped_files())
    if (file.path.starts_with("playbooks/")) known.push_back(fs::path{file.path}.stem().string());
  const auto stem = fs::path{name}.stem().string();
  const auto meant = inventory::did_you_mean(stem, std::span<const std::string>{known});
  error.what += meant;
  if (meant.empty() && stem == name && error.code == Code::kNotFound)
    error.what += "; the shipped playbooks: cupel playbook list";
  return error;
}

}  // namespace

std::optional<Bundle> bundle_of(std::string_view text) {
  if (!text.starts_with(kMark)) return std::nullopt;
  const auto parsed = parse_json(text);
  if (!parsed) return std::nullopt;
  const auto& root = *parsed;
  Bundle bundle;
  if (const auto* files = cupel::find(root, "cupel-bundle"); files != nullptr && files->is_array())
    for (const auto& each : files->get_array()) {
      const auto* file = cupel::find(each, "file");
      const auto* body = cupel::find(each, "text");
      if (file == nullptr || body == nullptr || !file->is_string() || !body->is_string()) continue;
      bundle.texts.push_back({std::string{file->get_string()},
                              cupel::flag_at(each, "shipped") == true,
                              std::string{body->get_string()}});
    }
  if (const auto* values = cupel::find(root, "arguments"); values != nullptr && values->is_object())
    for (const auto& [name, value] : values->get_object())
      if (value.is_string()) bundle.arguments.emplace(name, value.get_string());
  if (bundle.texts.empty()) return std::nullopt;
  return bundle;
}

std::string text_of(const Bundle& bundle) {
  if (bundle.texts.size() == 1 && bundle.arguments.empty()) return bundle.texts.front().text;
  json::array files;
  for (const auto& each : bundle.texts)
    files.push_back(json::object{{"file", valid_utf8(each.file)},
                                 {"shipped", each.shipped},
                                 {"text", valid_utf8(each.text)}});
  json::object arguments;
  for (const auto& [name, value] : bundle.arguments)
    arguments[valid_utf8(name)] = valid_utf8(value);
  return json::serialize(json::object{{"cupel-bundle", files}, {"arguments", arguments}});
}

const Text* Library::kept(const std::string& file, bool shipped) const {
  for (const auto& text : bundle_.texts)
    if (text.file == file && text.shipped == shipped) return &text;
  return nullptr;
}

Result<Text> Library::keep(Text text) {
  if (kept(text.file, text.shipped) != nullptr) return text;
  std::size_t bytes = text.text.size();
  for (const auto& each : bundle_.texts) bytes += each.text.size();
  if (bytes > kMostText) return Error{Code::kInvalid, "all files together are longer than 8 MiB"};
  bundle_.texts.push_back(text);
  return text;
}

Result<Text> Library::find(const Text& including, const std::string& name) {
  const auto beside = (fs::path{including.file}.parent_path() / name).lexically_normal().string();
  if (!including.shipped) {
    if (const auto* text = kept(beside, false)) return *text;
    if (from_ == From::disk) {
      TRY(check_ownership(beside));
      auto read = read_file(beside, kLongestFile);
      if (read) return keep({beside, false, *std::move(read)});
      if (read.error().code != Code::kNotFound && !shipped_text(name))
        return std::move(read).error();
    }
  }
  if (const auto* text = kept(shipped_path(name), true)) return *text;
  auto shipped = from_ == From::bundle ? std::nullopt : shipped_text(name);
  if (shipped) return keep(std::move(*shipped));
  return not_found(name, {Code::kNotFound, "there is no file " + printable(beside) +
                                               ", and no shipped playbook of that name"});
}

Result<Text> read_text(const std::string& name) {
  TRY(check_ownership(name));
  auto text = read_file(name, kLongestFile);
  if (text) return Text{name, false, *std::move(text)};
  auto shipped = shipped_text(name);
  if (shipped) return std::move(*shipped);
  return not_found(name, std::move(text).error());
}

}  // namespace cupel::playbooks
