#include "inventory/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <spanstream>
#include <unordered_map>

namespace cupel::inventory {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostValues = 2'000'000;

/// Thrown through yaml-cpp's parser, and caught in parse_yaml: the library offers no other way out.
struct Refused {
  int line;
  int column;
  std::string what;
};

std::size_t count_of(const YamlValue& value) {
  std::size_t count = 1;
  for (const auto& item : value.items) count += count_of(item);
  return count;
}

/// Builds the tree from yaml-cpp's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlValue root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(made(YamlValue::Kind::null, mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias to something that is not complete yet");
    count_ += count_of(found->second);
    check_count(mark);
    auto copy = found->second;
    add(std::move(copy), YAML::NullAnchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    // An unquoted, empty or "~" scalar has the tag "?": YAML 1.2, 10.3.2, null.
    const bool plain = tag == "?";
    const bool null = plain && (text.empty() || text == "~" || text == "null");
    auto value = made(null ? YamlValue::Kind::null : YamlValue::Kind::scalar, mark);
    value.text = text;
    value.quoted = !plain;
    add(std::move(value), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(made(YamlValue::Kind::list, mark), anchor, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(made(YamlValue::Kind::map, mark), anchor, mark);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    YamlValue value;
    YAML::anchor_t anchor;
    std::optional<YamlValue> key{};
    std::set<std::string, std::less<>> keys{};
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, std::string what) {
    throw Refused{mark.line + 1, mark.column + 1, std::move(what)};
  }
  void check_count(const YAML::Mark& mark) const {
    if (count_ > kMostValues) refuse(mark, "more than two million values");
  }
  YamlValue made(YamlValue::Kind kind, const YAML::Mark& mark) {
    ++count_;
    check_count(mark);
    YamlValue value;
    value.kind = kind;
    value.line = mark.line + 1;
    value.column = mark.column + 1;
    return value;
  }
  void open(YamlValue value, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (levels_.size() == kDeepest) refuse(mark, "nested deeper than 64 levels");
    levels_.push_back({std::move(value), anchor});
  }
  void close() {
    auto level = std::move(levels_.back());
    levels_.pop_back();
    add(std::move(level.value), level.anchor);
  }
  void add(YamlValue value, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_.insert_or_assign(anchor, value);
    if (levels_.empty()) {
      root = std::move(value);
      return;
    }
    auto& level = levels_.back();
    if (level.value.kind == YamlValue::Kind::list)
      level.value.items.push_back(std::move(value));
    else if (!level.key)
      begin_entry(level, value);
    else
      end_entry(level, std::move(value));
  }
  static void begin_entry(Level& level, const YamlValue& key) {
    if (key.kind != YamlValue::Kind::scalar)
      throw Refused{key.line, key.column, "a key must be a word"};
    if (!level.keys.insert(key.text).second)
      throw Refused{key.line, key.column, "key '" + key.text + "' stands twice in the same map"};
    level.key = key;
  }
  static void end_entry(Level& level, YamlValue value) {
    value.key = std::move(level.key->text);
    value.key_line = level.key->line;
    value.key_column = level.key->column;
    level.value.items.push_back(std::move(value));
    level.key.reset();
  }

  std::vector<Level> levels_;
  std::unordered_map<YAML::anchor_t, YamlValue> anchors_;
  std::size_t count_ = 0;
};

}  // namespace

const YamlValue* YamlValue::entry(std::string_view wanted) const {
  if (kind != Kind::map) return nullptr;
  for (const auto& candidate : items)
    if (candidate.key == wanted) return &candidate;
  return nullptr;
}

std::optional<YamlDocument> parse_yaml(std::string_view text, std::string file,
                                       std::vector<Problem>& problems) {
  std::ispanstream stream{std::span{text.data(), text.size()}};
  TreeBuilder builder;
  try {
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(builder)) {
      problems.push_back({{file, 0, 0}, "the file is empty"});
      return std::nullopt;
    }
  } catch (const YAML::Exception& fault) {
    problems.push_back(
        {{file, fault.mark.line + 1, fault.mark.column + 1}, "not YAML: " + fault.msg});
    return std::nullopt;
  } catch (const Refused& fault) {
    problems.push_back({{file, fault.line, fault.column}, fault.what});
    return std::nullopt;
  }
  return YamlDocument{std::move(file), std::move(builder.root)};
}

}  // namespace cupel::inventory
