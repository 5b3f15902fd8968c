#include "runtime/store/sqlite.h"

#include "compiler/base/text.h"

#include <cerrno>

#include <fmt/format.h>

namespace curfew::store {

Result<Database> Database::Open(const std::string& path, int busy_ms) {
  sqlite3* handle = nullptr;
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  Database database;
  database.path_ = path;
  database.handle_.reset(handle);
  if (handle == nullptr) return Failure(FailureCode::OutOfSpace, "no memory for SQLite");
  if (code != SQLITE_OK) return database.FailureOf(code);
  sqlite3_busy_timeout(handle, busy_ms);
  return database;
}

Failure Database::FailureOf(int code) const {
  const std::string file = Printable(path_);
  const int error = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return {FailureCode::OutOfSpace,
              fmt::format("write {}: the disk is full; free some space on that file system and try "
                          "again",
                          file)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {FailureCode::Busy, fmt::format("{} is in use by another process; try again", file)};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return {
          FailureCode::Malformed,
          fmt::format("{} is damaged or is no database ({}); move it away, then `curfew residue` "
                      "finds what is left of its sandboxes",
                      file, sqlite3_errstr(code))};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {FailureCode::PermissionDenied,
              fmt::format("{} cannot be written; run as its owner (root, as a rule)", file)};
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      if (error == EACCES || error == EPERM) {
        return {FailureCode::PermissionDenied,
                fmt::format("{} cannot be opened; run as its owner (root, as a rule)", file)};
      }
      if (error == ENOSPC || error == EDQUOT) return FailureOf(SQLITE_FULL);
      if (error != 0) return SystemFailure(error, "open " + file);
      break;
    default:
      break;
  }
  return {FailureCode::System,
          fmt::format("{}: {}", file, handle_ ? sqlite3_errmsg(handle_.get()) : "SQLite")};
}

Outcome Database::Execute(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return FailureOf(code);
  return Ok();
}

Result<std::int64_t> Database::Number(const char* sql) {
  CURFEW_TRY(Statement statement, Statement::Prepare(*this, sql));
  CURFEW_TRY(const bool row, statement.Next());
  CURFEW_CHECK(row, "the query yields a number");
  return statement.Integer(0);
}

Result<Statement> Statement::Compile(const Database& database, const std::string& sql) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(database.get(), sql.c_str(), static_cast<int>(sql.size()) + 1,
                                      &handle, nullptr);
  if (code != SQLITE_OK) return database.FailureOf(code);
  Statement statement;
  statement.database_ = &database;
  statement.handle_.reset(handle);
  return statement;
}

Result<bool> Statement::Next() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->FailureOf(code);
}

Outcome Statement::Run() {
  for (;;) {
    CURFEW_TRY(const bool row, Next());
    if (!row) return Ok();
  }
}

std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(handle_.get(), column);
  const int bytes = sqlite3_column_bytes(handle_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(bytes)};
}

std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::optional<std::int64_t> Statement::OptionalInteger(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::nullopt;
  return Integer(column);
}

void Statement::Bind(int index, std::string_view text) {
  // A null pointer would be NULL, not the empty text.
  const char* data = text.data() == nullptr ? "" : text.data();
  CURFEW_CHECK(sqlite3_bind_text64(handle_.get(), index, data, text.size(), SQLITE_TRANSIENT,
                                   SQLITE_UTF8) == SQLITE_OK,
               "a text within SQLite's limit is bound to an existing parameter");
}

void Statement::Bind(int index, std::int64_t number) {
  CURFEW_CHECK(sqlite3_bind_int64(handle_.get(), index, number) == SQLITE_OK,
               "a number is bound to an existing parameter");
}

void Statement::Bind(int index, const std::optional<std::int64_t>& number) {
  if (number) {
    Bind(index, *number);
  } else {
    CURFEW_CHECK(sqlite3_bind_null(handle_.get(), index) == SQLITE_OK,
                 "NULL is bound to an existing parameter");
  }
}

}  // namespace curfew::store
