#pragma once
// Writes one JSON object as one line: what the programs on the nodes speak. Builds text and keeps
// no tree; reads nothing.
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace cupel::agent {

/// The shortest text that reads back as this number; "null" for NaN and infinity.
std::string number_text(double value);

/// JsonLine line{"fact"}; line.add("name", "cpu0").add("mhz", 3700.0);
/// line.array("gpus"); line.object(); line.add("index", 0); line.end(); line.end(); print(line);
/// Within an object each value has a key; within an array none has. A number that is not finite is
/// null: JSON has no other word for it. Bytes that are no UTF-8 become U+FFFD.
class JsonLine {
 public:
  /// An object without a kind: a part of another line.
  JsonLine() = default;
  explicit JsonLine(std::string_view kind);

  JsonLine& add(std::string_view key, std::string_view text);
  JsonLine& add(std::string_view key, const char* text);
  JsonLine& add(std::string_view key, double number);
  JsonLine& add(std::string_view key, std::same_as<bool> auto yes) {
    return raw(key, yes ? "true" : "false");
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonLine& add(std::string_view key, T number) {
    return raw(key, std::to_string(number));
  }
  /// `json` as it is: a value that was written before.
  JsonLine& raw(std::string_view key, std::string_view json);

  JsonLine& item(std::string_view text);
  JsonLine& item(double number);
  JsonLine& item(std::int64_t number);

  /// Opens one; end() closes what was opened last.
  JsonLine& object(std::string_view key);
  JsonLine& array(std::string_view key);
  JsonLine& object();
  JsonLine& end();

  /// The object alone, without the line's end; whatever is still open is closed.
  std::string object_text() const;
  /// The whole line, with its end.
  std::string text() const { return object_text() + "\n"; }

 private:
  void begin(std::string_view key);
  void begin();
  void put(std::string_view text);
  void put(double number);

  std::string text_ = "{";
  std::string open_ = "}";  // what closes each that is open, the innermost last
};

/// Writes it to standard output at once, whole. False where nobody reads any more.
bool print(const JsonLine& line);

/// All of `bytes` to a descriptor, over interruptions. False with errno set.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace cupel::agent
