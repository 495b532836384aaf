//! The list of a bucket's files, as a server writes it.

use crate::history::partition::{self, Stored};

/// A page of the list of a bucket's files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub files: Vec<Stored>,
    /// What to ask for the next one with.
    pub next: Option<String>,
}

/// Understands a page; names that no store of adoprof's has are passed over. `None` where it is none.
pub(super) fn page(text: &str, prefix: &str) -> Option<Page> {
    let document = roxmltree::Document::parse(text).ok()?;
    let root = document.root_element();
    let text_of = |node: roxmltree::Node<'_, '_>, name: &str| {
        let child = node.children().find(|child| child.tag_name().name() == name)?;
        child.text().map(str::to_owned)
    };
    (root.tag_name().name() == "ListBucketResult").then_some(())?;
    let of_profile = |node: roxmltree::Node<'_, '_>| {
        let key = text_of(node, "Key")?;
        let path = key.strip_prefix(prefix)?;
        let is_inside = path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
            && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"=._-/".contains(&byte));
        let is_profile = is_inside && partition::stem(path).is_some();
        let version = text_of(node, "ETag").unwrap_or_default();
        is_profile.then(|| Stored { path: path.to_owned(), version })
    };
    let contents = root.children().filter(|node| node.tag_name().name() == "Contents");
    let is_more = text_of(root, "IsTruncated").is_some_and(|text| text == "true");
    let next = text_of(root, "NextContinuationToken").filter(|_| is_more);
    Some(Page { files: contents.filter_map(of_profile).collect(), next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_lists_profiles_and_what_leads_out_of_the_store_is_passed_over() {
        let text = r#"<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
            <IsTruncated>true</IsTruncated><NextContinuationToken>a+b/c=</NextContinuationToken>
            <Contents><Key>team &amp; co/gpu=a/program=b/date=c/1.parquet</Key><ETag>&quot;x&quot;</ETag></Contents>
            <Contents><Key>team &amp; co/../../2.parquet</Key></Contents>
            <Contents><Key>team &amp; co/notes.txt</Key></Contents>
            <Contents><Key>other/3.parquet</Key></Contents></ListBucketResult>"#;
        let page = page(text, "team & co/").unwrap();
        let path = "gpu=a/program=b/date=c/1.parquet".to_owned();
        assert_eq!(page.files, [Stored { path, version: "\"x\"".to_owned() }]);
        assert_eq!(page.next.as_deref(), Some("a+b/c="));
        assert_eq!(super::page("<html/>", ""), None);
        assert_eq!(super::page("not found", ""), None);
    }
}
