module example.test/ask

go 1.19
