"""Tests of rag_assets. They mirror its folders; `laws` and `e2e` go through all of them."""
