#pragma once
// A real browser without a window, for what only a browser can tell of a page: how wide it is, and
// what is on paper. It talks to nobody.
#include <filesystem>
#include <string>
#include <vector>

namespace cupel::testing {

class Chromium {
 public:
  /// The browser, and pdftotext.
  static bool installed();

  Chromium();
  ~Chromium();
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;

  /// The page's text as it is printed, with a form feed behind each sheet.
  std::string printed(const std::string& html);

  /// What `script` returns, a text; in it `page` is the document of the page in a window so many
  /// pixels wide.
  std::string measured(const std::string& html, int width, const std::string& script);

 private:
  std::string chromium(std::vector<std::string> words);
  std::filesystem::path write(const std::string& name, const std::string& text) const;

  std::filesystem::path folder_;
};

}  // namespace cupel::testing
