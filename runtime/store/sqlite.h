// SQLite as values and Results. The only header that sees it.
#pragma once

#include "compiler/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace curfew::store {

class Database {
 public:
  // Opens or creates, waits up to `busy_ms` for other processes.
  static Result<Database> Open(const std::string& path, int busy_ms);

  // One or more statements without parameters and rows.
  Outcome Execute(const char* sql);
  // The single number that a query yields.
  Result<std::int64_t> Number(const char* sql);
  // What `code` means, with the file and the remedy.
  [[nodiscard]] Failure FailureOf(int code) const;
  [[nodiscard]] sqlite3* get() const { return handle_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Rows that the last statement changed.
  [[nodiscard]] int changes() const { return sqlite3_changes(handle_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

// A prepared statement of one use: bind all, then Next until it says false.
class Statement {
 public:
  template <typename... Values>
  static Result<Statement> Prepare(const Database& database, const std::string& sql,
                                   const Values&... values) {
    CURFEW_TRY(Statement statement, Compile(database, sql));
    int index = 0;
    (statement.Bind(++index, values), ...);
    CURFEW_CHECK(index == sqlite3_bind_parameter_count(statement.handle_.get()),
                 "every parameter is bound");
    return statement;
  }

  // Whether there is a row.
  Result<bool> Next();
  // Runs to the end.
  Outcome Run();

  [[nodiscard]] std::string Text(int column) const;
  [[nodiscard]] std::int64_t Integer(int column) const;
  [[nodiscard]] std::optional<std::int64_t> OptionalInteger(int column) const;

 private:
  static Result<Statement> Compile(const Database& database, const std::string& sql);
  void Bind(int index, std::string_view text);
  void Bind(int index, const std::string& text) { Bind(index, std::string_view(text)); }
  void Bind(int index, std::int64_t number);
  void Bind(int index, const std::optional<std::int64_t>& number);

  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  const Database* database_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace curfew::store
